// "Fewest moves from here": kept up while one plays.
//
// A search begins when the board has been still for a moment, and is given up when it changes. What is known of a
// solution is known of every board on its way, so whoever follows it needs no further search.

import { isAborted, run } from "./api.js";
import { point } from "./drawing.js";
import { game } from "./game.js";
import { player } from "./player.js";
import { $, count, moves, sentence, write } from "./words.js";

const STILL = 250; // milliseconds
const MOST_KNOWN = 20000;

let known = new Map(); // board -> { length, lower_bound, optimal, tiles }
let timer = null, running = null, hinted = false, open = true;

const key = (board) => board.join(" ");

/** Remember what is known of a board, and of every board on the way to the goal. */
export function remember(board, { length, lower_bound, optimal, tiles }) {
  if (known.size > MOST_KNOWN) known.clear();
  if (!tiles?.length) return void known.set(key(board), { length, lower_bound, optimal, tiles: [] });
  tiles.forEach((tile, made) => {
    const left = { length: length - made, lower_bound: Math.max(lower_bound - made, 0) };
    if (!known.get(key(board))?.optimal) known.set(key(board), { ...left, optimal, tiles: tiles.slice(made) });
    board = game.after(tile, board);
  });
}

/** Whether the count is wanted: where it is not shown, it is not made. */
export function setOpen(wanted) {
  open = wanted;
  $("fewest").hidden = !wanted;
  refresh();
}

function say(number, words) {
  write($("fewest-number"), number);
  write($("fewest-words"), words);
}

function show(answer) {
  const { length, lower_bound, optimal, tiles } = answer;
  if (optimal) say(count(length), length === 1 ? "move, proven fewest" : "moves, proven fewest");
  else if (length !== null) say(`${lower_bound}–${length}`, "moves: too hard to prove in a few seconds");
  else say(`≥ ${count(lower_bound)}`, "moves: too hard to solve in a few seconds");
  if (game.by !== "player") write($("fewest-said"), `${$("fewest-number").textContent} ${$("fewest-words").textContent}`);
  const next = Boolean(tiles?.length);
  $("hint").disabled = $("follow").disabled = !next;
  point(hinted && next ? tiles[0] : null);
}

function refresh() {
  clearTimeout(timer);
  running?.abort();
  running = null;
  if (!game.puzzle) return;
  $("hint").disabled = $("follow").disabled = true;
  if (!open || !$("counting").checked) return say("–", open ? "not counting" : "");
  if (!game.puzzle.solvable) return say("None", sentence(game.puzzle.verdict));
  if (game.solved) return say("Solved", game.ending);
  const answer = known.get(key(game.board));
  if (answer) return show(answer);
  say("…", "counting");
  timer = setTimeout(search, STILL);
}

async function search() {
  const board = game.board, mine = (running = new AbortController());
  const onTime = (handler) => (facts) => { if (running === mine) handler(facts); };
  try {
    await run("fewest", game.fields(), {
      place: onTime(({ place }) => say("…", place > 1 ? `waiting: ${place - 1} before this one` : "counting")),
      progress: onTime(({ preparing, bound, width, length }) => {
        if (preparing) say("…", preparing);
        else if (!width) say(`≥ ${bound}`, `moves${length ? `, and at most ${length}` : ""}; still counting`);
        else say("…", length ? `at most ${moves(length)}; still looking` : "looking for a solution");
      }),
      fewest: onTime((answer) => {
        remember(board, answer);
        show(answer);
      }),
    }, mine.signal);
  } catch (error) {
    if (!isAborted(error) && running === mine) say("?", sentence(error.message));
  }
}

export function listen() {
  $("counting").addEventListener("change", refresh);
  $("hint").addEventListener("click", () => {
    const next = known.get(key(game.board))?.tiles[0];
    if (!next) return;
    hinted = true;
    point(next);
    $("said").textContent = `Move tile ${next}.`;
  });
  $("follow").addEventListener("click", () => {
    const answer = known.get(key(game.board));
    if (answer) player.load(game.board, answer.tiles, true);
  });
  game.addEventListener("puzzle", () => (known = new Map()));
  game.addEventListener("board", () => {
    hinted = false;
    point(null);
    refresh();
  });
}
