// The board as SVG: drawn once for a puzzle, and moved tile by tile afterwards.
//
// A tile has the colour of its home, brighter when it is there. The colours come from the server, where the terminal
// and the pictures have theirs from.

import { game } from "./game.js";
import { $ } from "./words.js";

const CELL = 100, GAP = 3, RIM = 9, CORNER = 13;
const SLIDE = 130; // milliseconds
const SVG = "http://www.w3.org/2000/svg";

let drawn = new Map(); // tile -> { group, square, number, mark }
let paint = null; // tile -> { fill, number, mark }, instead of the colours of homes
let before = []; // the board that is drawn

function shape(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent?.append(made);
  return made;
}

/** Draw tiles in other colours, as a function says; null for those of their homes. */
export function paintWith(painter) {
  paint = painter;
  if (game.puzzle) colour();
}

/** Mark the tile to move next, and no other; null for none. */
export function point(tile) {
  for (const [number, { group }] of drawn) group.classList.toggle("next", number === tile);
}

/** The tile that an element of the drawing belongs to, or null. */
export const tileAt = (target) => Number(target.closest?.("[data-tile]")?.dataset.tile ?? 0) || null;

/** Let a tile follow a finger: moved from its cell by a share of the way, or back on it without one. */
export function nudge(tile, [down, right], share) {
  const { group } = drawn.get(tile);
  const { x, y } = place(game.board.indexOf(tile));
  group.classList.toggle("held", share > 0);
  group.style.transform = `translate(${x + CELL * right * share}px, ${y + CELL * down * share}px)`;
}

/** How many pixels a cell is wide. */
export function cellSize() {
  const { cols } = game.puzzle;
  return ($("board").getBoundingClientRect().width * CELL) / (cols * CELL + 2 * RIM);
}

const place = (cell) => ({
  x: RIM + CELL * (cell % game.puzzle.cols),
  y: RIM + CELL * Math.floor(cell / game.puzzle.cols),
});

function build() {
  const { rows, cols } = game.puzzle;
  const width = cols * CELL + 2 * RIM, height = rows * CELL + 2 * RIM;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  shape("rect", { class: "ground", width, height, rx: 2 * CORNER }, svg);
  drawn = new Map();
  for (let tile = 1; tile < rows * cols; tile++) {
    const group = shape("g", { class: "tile", "data-tile": tile }, svg);
    const square = shape(
      "rect", { x: GAP, y: GAP, width: CELL - 2 * GAP, height: CELL - 2 * GAP, rx: CORNER }, group,
    );
    const number = shape("text", { x: CELL / 2, y: CELL / 2, class: "tile-number" }, group);
    number.textContent = tile;
    const mark = shape("text", { x: 14, y: 24, class: "tile-mark" }, group);
    drawn.set(tile, { group, square, number, mark });
  }
  $("board").replaceChildren(svg);
  $("board").style.setProperty("--shape", `${width} / ${height}`);
  $("board").style.setProperty("--ratio", width / height);
  before = [];
}

function colour() {
  const { colours, goal } = game.puzzle;
  for (const [tile, { group, square, number, mark }] of drawn) {
    const home = goal[game.board.indexOf(tile)] === tile;
    const [fill, ink] = colours[tile][home ? "home" : "away"];
    const painted = paint?.(tile);
    group.classList.toggle("home", home);
    square.style.fill = painted?.fill ?? fill;
    number.style.fill = mark.style.fill = painted?.number ?? ink;
    mark.textContent = painted?.mark ?? "";
  }
}

function arrange() {
  const { rows, cols } = game.puzzle;
  for (const [tile, { group }] of drawn) {
    const cell = game.board.indexOf(tile), from = before.indexOf(tile);
    const { x, y } = place(cell);
    group.classList.remove("held");
    group.style.transform = `translate(${x}px, ${y}px)`;
    if (from >= 0 && from !== cell) {
      const down = Math.floor(cell / cols) - Math.floor(from / cols), right = (cell % cols) - (from % cols);
      const crosses = Math.abs(down) + Math.abs(right) > 1 && game.puzzle.wrap
        && (Math.abs(down) === rows - 1 || Math.abs(right) === cols - 1) && (!down || !right);
      if (crosses) cross(group, from, cell, -Math.sign(down), -Math.sign(right));
    }
  }
  before = [...game.board];
  colour();
  describe();
}

/** Slide a tile out across one edge, and in across the other. */
function cross(group, from, to, down, right) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const at = (cell, share) => {
    const { x, y } = place(cell);
    return `translate(${x + CELL * right * share}px, ${y + CELL * down * share}px)`;
  };
  group.animate(
    [
      { transform: at(from, 0) },
      { transform: at(from, 1), offset: 0.5 },
      { transform: at(to, -1), offset: 0.5 },
      { transform: at(to, 0) },
    ],
    { duration: 2 * SLIDE },
  );
}

function describe() {
  const { cols } = game.puzzle, lines = [];
  for (let at = 0; at < game.board.length; at += cols) {
    lines.push(game.board.slice(at, at + cols).map((tile) => tile || "gap").join(" "));
  }
  $("board-text").textContent = lines.map((line, row) => `Row ${row + 1}: ${line}.`).join(" ");
}

game.addEventListener("puzzle", build);
game.addEventListener("board", arrange);
