// Where boards come from: drawn at random, in order, typed, or held by a link.

import { ask } from "./api.js";
import { game } from "./game.js";
import { $, complain, element, write } from "./words.js";

const LEAST = 2, MOST = 10; // cells of a side that the form offers; typed boards may have others
const OWN = "own";

let mostSeed = 0;
let asked = 0; // boards so far: only the answer to the last question counts

/** What the form says of the puzzle. */
function wanted() {
  const own = $("goal").value === OWN;
  return {
    shape: `${$("rows").value}x${$("cols").value}`,
    goal: own ? $("own-goal").value : $("goal").value,
    wrap: $("wrap").checked,
  };
}

/** Begin with the board that the server describes; `keep` leaves the complaint that is shown. */
async function begin(what, fields, line = $("trouble"), keep = false) {
  const mine = ++asked;
  try {
    const puzzle = await ask(what, fields);
    if (mine !== asked) return true;
    game.begin(puzzle);
    if (!keep) for (const one of [$("trouble"), line]) complain(one, null);
    $("board").scrollIntoView({ block: "nearest" });
    return true;
  } catch (error) {
    if (mine === asked) complain(line, error);
    return false;
  }
}

/** A random board; without a seed, another one every time. */
async function shuffle({ keep = false } = {}) {
  const typed = $("seed").value.trim();
  const seed = typed === "" ? Math.floor(Math.random() * Math.min(mostSeed, 1e6)) : Number(typed);
  if (!/^\d*$/.test(typed)) return complain($("trouble"), `a seed is a whole number, got ${typed.slice(0, 40)}`);
  await begin("shuffle", { ...wanted(), seed }, $("trouble"), keep);
}

/** The goal itself, to play from: it is asked for as a board. */
async function order() {
  const { shape, goal, wrap } = wanted(), mine = ++asked;
  try {
    const { goal: tiles } = await ask("shuffle", { shape, goal, wrap });
    if (mine === asked) await begin("board", { board: tiles.join(" "), shape, goal, wrap });
  } catch (error) {
    if (mine === asked) complain($("trouble"), error);
  }
}

/** Fill the form from the puzzle that is played. */
function follow() {
  const { rows, cols, wrap, goal_text, verdict, why } = game.puzzle;
  for (const [id, side] of [["rows", rows], ["cols", cols]]) {
    if (![...$(id).options].some((one) => one.value === String(side))) $(id).append(new Option(side, side));
    $(id).value = side;
  }
  const named = [...$("goal").options].some((one) => one.value === goal_text);
  $("goal").value = named ? goal_text : OWN;
  $("own-goal-label").hidden = named;
  if (!named) $("own-goal").value = goal_text;
  $("wrap").checked = wrap;
  $("verdict").textContent = `This board ${verdict}`;
  $("why").classList.toggle("bad", !game.puzzle.solvable);
  $("why-lines").replaceChildren(...why.map((line) => {
    const [, name, text] = line.match(/^(\S+)\s+(.*)$/);
    return element("div", {}, element("dt", {}, name), element("dd", {}, text));
  }));
}

function count() {
  const made = game.made;
  write($("made"), made);
  write($("made-unit"), made === 1 ? "move" : "moves");
  $("undo").disabled = $("reset").disabled = game.history.length === 0;
  if (document.activeElement !== $("typed-text")) $("typed-text").value = rowsOf(game.board);
}

function rowsOf(board) {
  const { cols } = game.puzzle, width = String(board.length - 1).length, lines = [];
  for (let at = 0; at < board.length; at += cols) {
    lines.push(board.slice(at, at + cols).map((tile) => String(tile).padStart(width)).join(" "));
  }
  return lines.join("\n");
}

function announce({ detail }) {
  if (detail.by !== "hand") return;
  const [down, right] = detail.step;
  const way = down < 0 ? "up" : down > 0 ? "down" : right < 0 ? "left" : "right";
  $("said").textContent = game.solved ? `Solved ${game.ending}.` : `Tile ${detail.tile} ${way}.`;
}

// ---- links --------------------------------------------------------------------------------------

/** The part of a link that holds the board. */
function linked() {
  const { board, shape, wrap, goal } = game.fields();
  const parts = new URLSearchParams({ shape, board: board.replaceAll(" ", "."), goal: goal.replaceAll(" ", ".") });
  if (wrap) parts.set("wrap", "1");
  return `#${parts}`;
}

/** Begin with the board that the address holds; false if there is none, or if it is refused. */
async function fromLink(parts) {
  const text = (name) => parts.get(name)?.replaceAll(".", " ");
  return begin("board", {
    board: text("board"), shape: parts.get("shape"), goal: text("goal") ?? "last", wrap: parts.get("wrap") === "1",
  });
}

async function copy() {
  const link = location.href.split("#")[0] + linked();
  try {
    await navigator.clipboard.writeText(link);
    $("copied").textContent = "The link is in the clipboard. It works wherever this page runs.";
  } catch {
    $("copied").textContent = link;
  }
}

let writing = null;

function keepLink() { // browsers allow a hundred changes in half a minute
  clearTimeout(writing);
  writing = setTimeout(() => history.replaceState(null, "", linked()), 400);
}

// ---- beginning ----------------------------------------------------------------------------------

export async function start(about) {
  mostSeed = about.most_seed;
  for (const id of ["rows", "cols"]) {
    for (let side = LEAST; side <= MOST; side++) $(id).append(new Option(side, side, side === 4, side === 4));
  }
  const names = { last: "gap last", first: "gap first", spiral: "spiral" };
  for (const goal of about.goals) $("goal").append(new Option(names[goal] ?? goal, goal));
  $("goal").append(new Option("your own…", OWN));
  $("goal").addEventListener("change", () => ($("own-goal-label").hidden = $("goal").value !== OWN));
  const on = (id, event, handler) =>
    $(id).addEventListener(event, (happened) => {
      happened.preventDefault();
      handler();
    });
  on("new", "submit", shuffle);
  on("shuffle", "click", shuffle);
  on("skip", "click", () => $("panels").focus()); // the address is that of the board
  on("ordered", "click", order);
  on("undo", "click", () => game.undo());
  on("reset", "click", () => game.reset());
  on("copy", "click", copy);
  on("typed", "submit", () => {
    const { goal, wrap } = wanted();
    begin("board", { board: $("typed-text").value, goal, wrap }, $("typed-problem"));
  });
  game.addEventListener("puzzle", follow);
  game.addEventListener("board", count);
  game.addEventListener("board", announce);
  game.addEventListener("board", keepLink);
  const link = () => new URLSearchParams(location.hash.slice(1));
  addEventListener("hashchange", () => link().has("board") && fromLink(link()));
  const holds = link().has("board");
  if (!(holds && (await fromLink(link())))) await shuffle({ keep: holds }); // what is wrong with the link stays to read
}
