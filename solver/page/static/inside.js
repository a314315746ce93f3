// Look inside: every pattern with its distance, the sums they make, and other heuristics beside them.
//
// The board shows the patterns of one sum. Colours alone do not tell them apart: every tile has the letter of its
// pattern, too.

import { ask, isAborted } from "./api.js";
import { paintWith } from "./drawing.js";
import { game } from "./game.js";
import { about } from "./methods.js";
import { $, complain, count, element, sentence, tell } from "./words.js";

const ORDER = [0, 3, 6, 2, 4, 1, 5]; // of the rainbow, so that neighbours differ
const letter = (place) => String.fromCharCode(65 + (place % 26));
const fill = (place) => about.colours.rainbow[ORDER[place % ORDER.length]];

let open = false, asking = null, latest = null;
let chosen = null; // the number of the sum that is shown; null for the largest
let pattern = null; // the number of the pattern whose table is shown

export function setOpen(wanted) {
  open = wanted;
  if (open) look();
  else paintWith(null);
}

async function look() {
  asking?.abort();
  const mine = (asking = new AbortController());
  try {
    const answer = await ask("inside", { ...game.fields(), database: $("database").value || null }, mine.signal);
    if (asking !== mine || !open) return;
    complain($("inside-problem"), null);
    show(answer);
  } catch (error) {
    if (isAborted(error) || asking !== mine) return;
    latest = null;
    paintWith(null);
    tell($("values"), []);
    for (const id of ["sums-card", "histogram-card", "database-label"]) $(id).hidden = true;
    $("advice").hidden = true;
    complain($("inside-problem"), error);
  }
}

function show(answer) {
  latest = answer;
  const { beside, databases, database, value, sums } = answer;
  const there = database !== null;
  for (const id of ["sums-card", "histogram-card", "database-label"]) $(id).hidden = !there;
  $("advice").hidden = there;
  tell($("values"), [
    ["Manhattan distance", `${beside.manhattan}`],
    ["Linear conflict", "linear-conflict" in beside ? `${beside["linear-conflict"]}` : "–"],
    ["Database, largest sum", there ? `${value}` : "–"],
  ]);
  if (!there) {
    paintWith(null);
    $("advice").textContent = `There is no database for this board and goal yet: ${answer.advice}, and come back.`;
    return;
  }
  if ([...$("database").options].map((one) => one.value).join() !== databases.join()) {
    $("database").replaceChildren(...databases.map((name) => new Option(name, name)));
  }
  $("database").value = database;
  if (chosen !== null && chosen >= sums.length) chosen = null;
  showSums();
}

function showSums() {
  const { sums, value, patterns } = latest;
  const best = sums.findIndex((one) => one.value === value), number = chosen ?? best;
  const shown = sums[number].patterns;
  const kept = $("sums").contains(document.activeElement);
  $("sums").replaceChildren(...sums.map((one, at) => {
    const words = `${one.mirrored ? "Mirrored sum" : "Sum"}${sums.length > 2 ? ` ${at + 1}` : ""}`;
    const terms = one.patterns.map((each) => patterns[each].distance).join(" + ");
    return element(
      "button",
      {
        type: "button", role: "radio", "aria-checked": String(at === number), tabIndex: at === number ? 0 : -1,
        className: at === number ? "sum shown" : "sum",
        onclick: () => choose(at),
      },
      element("span", { className: "name" }, words),
      element("span", { className: "terms" }, `${terms} =`),
      element("strong", {}, String(one.value)),
      element("span", { className: "largest" }, one.value === value ? "largest" : ""),
    );
  }));
  if (kept) $("sums").querySelector("[aria-checked=true]").focus();
  if (!shown.includes(pattern)) pattern = shown[0];
  $("patterns").replaceChildren(...shown.map((each, place) => row(each, place)));
  const place = new Map(shown.flatMap((each, at) => patterns[each].tiles.map((tile) => [tile, at])));
  paintWith((tile) => ({ fill: fill(place.get(tile)), number: about.colours.dark, mark: letter(place.get(tile)) }));
  showTable();
}

function row(number, place) {
  const { tiles, distance } = latest.patterns[number];
  const chip = element("span", { className: "chip" }, letter(place));
  chip.style.background = fill(place);
  chip.style.color = about.colours.dark;
  return element(
    "button",
    {
      type: "button", className: number === pattern ? "pattern shown" : "pattern",
      "aria-pressed": String(number === pattern),
      onclick: () => {
        pattern = number;
        showSums();
      },
    },
    chip,
    element("span", { className: "tiles" }, `tiles ${tiles.join(" ")}`),
    element("strong", {}, String(distance)),
    element("span", { className: "quiet" }, distance === 1 ? "move" : "moves"),
  );
}

function choose(number) {
  chosen = number;
  pattern = null;
  showSums();
}

// ---- the table of a pattern ---------------------------------------------------------------------

const tables = new Map(); // by database and pattern, of this puzzle

async function showTable() {
  const number = pattern, { database, patterns } = latest, key = `${database} ${number}`;
  try {
    if (!tables.has(key)) tables.set(key, ask("histogram", { ...game.fields(), database, pattern: number }));
    const table = await tables.get(key);
    if (pattern === number && latest?.database === database) draw(table, patterns[number].distance);
  } catch (error) {
    tables.delete(key);
    complain($("inside-problem"), error);
  }
}

function draw({ tiles, counts, entries, mean, maximum }, here) {
  const most = Math.max(...counts);
  $("histogram-title").textContent = `All placements of the tiles ${tiles.join(" ")}`;
  $("histogram").replaceChildren(...counts.map((number, distance) => {
    const bar = element("div", { className: distance === here ? "here" : "", title: `${distance}: ${count(number)}` });
    bar.style.height = `${number ? Math.max(0.8, (100 * number) / most) : 0}%`;
    return bar;
  }));
  const words = `${count(entries)} entries, from 0 to ${maximum} moves, ${mean.toFixed(2)} on average. `
    + `This board is among the ${count(counts[here])} at ${here}.`;
  $("histogram").setAttribute("aria-label", `Number of entries by distance: ${words}`);
  $("histogram-words").textContent = sentence(words);
}

export function start() {
  $("database").addEventListener("change", () => {
    chosen = pattern = null;
    look();
  });
  $("sums").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!step || !latest) return;
    event.preventDefault();
    const at = [...$("sums").children].findIndex((one) => one.getAttribute("aria-checked") === "true");
    choose((at + step + latest.sums.length) % latest.sums.length);
  });
  game.addEventListener("puzzle", () => {
    chosen = pattern = null;
    tables.clear();
    $("database").replaceChildren();
    paintWith(null);
  });
  game.addEventListener("board", () => {
    if (open) look();
  });
}
