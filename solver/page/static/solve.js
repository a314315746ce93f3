// Solve: a method, its search as it goes, and what came of it.

import { ask, isAborted, run } from "./api.js";
import { remember } from "./fewest.js";
import { game } from "./game.js";
import { about, algorithm, heuristics } from "./methods.js";
import { player } from "./player.js";
import { $, complain, count, element, large, moves, number, sentence, tabulate, tell, write } from "./words.js";

const USUAL = "";
const ENDS = {
  time: "the time is up",
  nodes: "the node limit was reached",
  memory: "the memory limit was reached: ida-star needs hardly any",
  depth: "the depth limit was reached",
  width: "the beam ran out of boards: a wider one may find more",
  interrupt: "stopped",
};

let running = null; // { controller, id, name }

// ---- the form -----------------------------------------------------------------------------------

function choices() {
  const chosen = $("heuristic").value;
  $("heuristic").replaceChildren(
    new Option("the best there is", USUAL),
    ...heuristics().map(({ name }) => new Option(name, name)),
  );
  $("heuristic").value = chosen;
  if ($("heuristic").selectedIndex < 0) $("heuristic").value = USUAL;
  explain();
}

function explain() {
  const chosen = algorithm($("algorithm").value);
  const heuristic = heuristics().find(({ name }) => name === $("heuristic").value);
  $("heuristic").disabled = chosen?.uninformed ?? false;
  for (const label of document.querySelectorAll("[data-parameter]")) {
    label.hidden = !chosen?.parameters.includes(label.dataset.parameter);
  }
  const usual = "the usual: ida-star, or a beam on boards too large for it.";
  const lines = [chosen ? `${chosen.name}: ${chosen.summary}.` : usual];
  if (heuristic && !chosen?.uninformed) lines.push(`${heuristic.name}: ${heuristic.summary}.`);
  $("method-words").textContent = lines.map(sentence).join(" ");
}

/** What the form says of the search. */
function wanted() {
  const chosen = algorithm($("algorithm").value);
  const fields = { algorithm: chosen?.name ?? null, time_limit: number($("solve-seconds").value) };
  if (!chosen?.uninformed) fields.heuristic = $("heuristic").value || null;
  for (const parameter of chosen?.parameters ?? []) {
    fields[parameter] = number(document.querySelector(`[data-parameter=${parameter}] input`).value);
  }
  return fields;
}

// ---- the search ---------------------------------------------------------------------------------

async function solve() {
  stop(true);
  const board = game.board, mine = (running = { controller: new AbortController(), id: null });
  const fields = { ...game.fields(), ...wanted() };
  $("search").hidden = false;
  $("search-remarks").replaceChildren();
  $("search-moves").textContent = "";
  $("iterations-box").hidden = true;
  complain($("search-problem"), null);
  tell($("search-facts"), []);
  state("Beginning", true);
  try {
    await run("solve", fields, {
      place({ id, place }) {
        mine.id = id;
        state(place ? `Waiting: ${place - 1 ? `${place - 1} before this one` : "next in line"}` : "Preparing", true);
      },
      remark: ({ text }) => $("search-remarks").append(element("li", {}, sentence(text))),
      progress: (facts) => report(facts),
      solution: (solution) => present(board, solution),
      stopped: () => state("Stopped before the search began", false),
    }, mine.controller.signal);
  } catch (error) {
    if (isAborted(error) || running !== mine) return;
    state("Refused", false);
    complain($("search-problem"), error);
  }
  if (running === mine) running = null;
  $("solve-stop").disabled = true;
}

function state(words, busy) {
  write($("search-state"), words);
  $("solve-stop").disabled = !busy;
  $("search-share").hidden = !busy;
  if (busy) $("search-share").removeAttribute("value");
}

function report({ preparing, bound, generated, speed, share, stored, length, width, seconds }) {
  write($("search-state"), preparing ? `Preparing: ${preparing}` : "Searching");
  if (share === null) $("search-share").removeAttribute("value");
  else $("search-share").value = share;
  if (preparing) return;
  tell($("search-facts"), [
    width ? ["Moves made", count(bound)] : ["Lower bound", count(bound)],
    ["Best so far", length === null ? "–" : moves(length)],
    ["Width", width && count(width)],
    ["Share of the bound", share === null ? null : `${Math.floor(100 * share)} %`],
    ["Nodes generated", large(generated)],
    ["Nodes per second", speed === null ? "…" : large(speed)],
    ["In memory", stored && large(stored)],
    ["Seconds", seconds.toFixed(1)],
  ]);
}

function present(board, solution) {
  const { solved, length, optimal, proof, lower_bound, stopped, generated, expanded, seconds, stored } = solution;
  const end = stopped && (ENDS[stopped] ?? stopped);
  if (!solved) state(`At least ${moves(lower_bound)}: ${end}`, false);
  else if (optimal) state(`${sentence(moves(length))}, proven shortest`, false);
  else state(`${sentence(moves(length))}${end ? `: ${end}` : ""}`, false);
  tell($("search-facts"), [
    ["Method", solution.heuristic === "none" ? solution.algorithm : `${solution.algorithm} with ${solution.heuristic}`],
    ["Proven", optimal ? "shortest" : solved ? proof : `at least ${lower_bound}`],
    ["Heuristic at the start", solution.heuristic === "none" ? null : `${solution.h_start}`],
    ["Nodes expanded", count(expanded)],
    ["Nodes generated", count(generated)],
    ["In memory", stored && count(stored)],
    ["Seconds", seconds.toFixed(3)],
    ["Nodes per second", seconds ? large(generated / seconds) : null],
  ]);
  $("search-moves").textContent = solution.moves ?? "";
  tabulateIterations(solution);
  if (!solved) return;
  remember(board, { length, lower_bound, optimal, tiles: solution.tiles });
  if (game.board.every((tile, cell) => tile === board[cell])) player.load(board, solution.tiles);
}

function tabulateIterations({ iterations, algorithm: name }) {
  $("iterations-box").hidden = iterations.length < 2;
  const first = name === "beam" ? "Width" : "Bound";
  tabulate(
    $("iterations"),
    [first, "Expanded", "Generated", "Seconds"],
    iterations.map((one) => [one.bound || "–", count(one.expanded), count(one.generated), one.seconds.toFixed(3)]),
  );
}

/** Ask the search to stop, which then tells what it has; or give it up. */
function stop(forget) {
  if (!running) return;
  if (forget || !running.id) {
    running.controller.abort();
    running = null;
    state("Stopped", false);
  } else {
    $("solve-stop").disabled = true;
    ask("stop", { id: running.id }).catch(() => {});
  }
}

export function start() {
  $("algorithm").append(new Option("usual", USUAL), ...about.algorithms.map(({ name }) => new Option(name, name)));
  document.querySelector("[data-parameter=weight] input").value = about.weight;
  $("algorithm").addEventListener("change", explain);
  $("heuristic").addEventListener("change", explain);
  $("solve").addEventListener("submit", (event) => {
    event.preventDefault();
    solve();
  });
  $("solve-stop").addEventListener("click", () => stop(false));
  game.addEventListener("puzzle", () => {
    stop(true);
    $("search").hidden = true;
    choices();
  });
}
