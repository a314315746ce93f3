// Hands: moves by click, drag, swipe and key.

import { cellSize, nudge, tileAt } from "./drawing.js";
import { game } from "./game.js";
import { $ } from "./words.js";

const ENOUGH = 0.35; // of a cell: a tile dragged that far goes on by itself
const STILL = 0.08; // of a cell: a finger that moves less has clicked
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

let held = null; // { pointer, tile, step, x, y, share, moved }

function push(tile) {
  for (const one of game.pushed(tile)) game.move(one);
}

function grab(event) {
  const tile = tileAt(event.target);
  if (!tile || held || event.button > 0) return;
  $("board").focus({ preventScroll: true });
  const pointer = event.pointerId;
  held = { pointer, tile, step: game.step(tile), x: event.clientX, y: event.clientY, share: 0, moved: false };
  $("board").setPointerCapture(event.pointerId);
  event.preventDefault();
}

function drag(event) {
  if (held?.pointer !== event.pointerId) return;
  const across = (event.clientX - held.x) / cellSize(), along = (event.clientY - held.y) / cellSize();
  held.moved ||= Math.hypot(across, along) > STILL;
  if (!held.step) return;
  held.share = Math.max(0, Math.min(1, along * held.step[0] + across * held.step[1]));
  nudge(held.tile, held.step, held.share);
}

function release(event) {
  if (held?.pointer !== event.pointerId) return;
  const { tile, step, share, moved } = held;
  held = null;
  if (!moved) push(tile);
  else if (step && share > ENOUGH) game.move(tile);
  else if (step) nudge(tile, step, 0);
}

function cancel(event) {
  if (held?.pointer !== event.pointerId) return;
  if (held.step) nudge(held.tile, held.step, 0);
  held = null;
}

function press(event) {
  const free = event.target === document.body;
  if (!free && (!event.target.closest(".stage") || event.target.matches("input"))) return; // for what has the focus
  const held = event.altKey || event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  if (held ? key === "z" : key === "u") game.undo();
  else if (held) return;
  else if (key === "h") $("hint").click();
  else if (event.key in ARROWS) {
    const tile = game.puzzle && game.tileGoing(...ARROWS[event.key]);
    if (tile) game.move(tile);
    if (tile || !free) event.preventDefault();
  }
}

export function listen() {
  const board = $("board");
  board.addEventListener("pointerdown", grab);
  board.addEventListener("pointermove", drag);
  board.addEventListener("pointerup", release);
  board.addEventListener("pointercancel", cancel);
  document.addEventListener("keydown", press);
  game.addEventListener("puzzle", () => (held = null));
}
