// The game: the puzzle, the board as it is now, and the moves made by hand.
//
// Whoever shows the board listens for "board"; whoever depends on the puzzle, for "puzzle". The server says what a
// puzzle is; moving a tile needs no server.

import { moves } from "./words.js";

class Game extends EventTarget {
  puzzle = null; // as the server describes it
  board = [];
  history = []; // what undo goes back to: { board, by } before each move by hand, and before a solution was played
  made = 0; // moves by hand since the start
  by = "puzzle"; // what changed the board last

  /** Begin with a puzzle as the server describes it. */
  begin(puzzle) {
    this.puzzle = puzzle;
    this.board = [...puzzle.board];
    this.history = [];
    this.made = 0;
    this.#tell("puzzle");
    this.#changed({ by: "puzzle" });
  }

  /** What a request says to name the board as it is now, or another one of the puzzle. */
  fields(board = this.board) {
    const { rows, cols, wrap, goal_text } = this.puzzle;
    return { board: board.join(" "), shape: `${rows}x${cols}`, wrap, goal: goal_text };
  }

  get solved() {
    return this.board.every((tile, cell) => tile === this.puzzle.goal[cell]);
  }

  /** The step [down, right] that a tile would make into the gap, or null if it is not beside it. */
  step(tile, board = this.board) {
    const { rows, cols, wrap } = this.puzzle;
    const from = board.indexOf(tile), to = board.indexOf(0);
    const row = Math.floor(from / cols), col = from % cols;
    for (const [down, right] of [[-1, 0], [1, 0], [0, -1], [0, 1]]) {
      let r = row + down, c = col + right;
      if (wrap) [r, c] = [(r + rows) % rows, (c + cols) % cols];
      if (r >= 0 && r < rows && c >= 0 && c < cols && r * cols + c === to) return [down, right];
    }
    return null;
  }

  /** The tile that goes one step [down, right] into the gap, or null. */
  tileGoing(down, right) {
    return this.board.find((tile) => tile && this.step(tile)?.[0] === down && this.step(tile)?.[1] === right)
      ?? this.board.find((tile) => tile && this.#reaches(tile, down, right)) ?? null;
  }

  #reaches(tile, down, right) { // on a wrapped side of two cells, both directions lead to the same cell
    const { rows, cols, wrap } = this.puzzle;
    if (!wrap) return false;
    const from = this.board.indexOf(tile);
    const row = (Math.floor(from / cols) + down + rows) % rows, col = ((from % cols) + right + cols) % cols;
    return row * cols + col === this.board.indexOf(0);
  }

  /** The tiles that move if one in the gap's row or column is pushed towards the gap, the first one first. */
  pushed(tile) {
    if (this.step(tile)) return [tile];
    const { cols } = this.puzzle;
    const from = this.board.indexOf(tile), gap = this.board.indexOf(0);
    const sameRow = Math.floor(from / cols) === Math.floor(gap / cols), sameCol = from % cols === gap % cols;
    if (!sameRow && !sameCol) return [];
    const stride = (sameRow ? 1 : cols) * Math.sign(from - gap), tiles = [];
    for (let cell = gap; cell !== from; cell += stride) tiles.push(this.board[cell + stride]);
    return tiles;
  }

  /** The board after a tile has moved into the gap. */
  after(tile, board = this.board) {
    const next = [...board];
    next[board.indexOf(0)] = tile;
    next[board.indexOf(tile)] = 0;
    return next;
  }

  /** Make a move by hand. */
  move(tile) {
    const step = this.step(tile);
    if (!step) return false;
    this.#keep("hand");
    this.board = this.after(tile);
    this.made++;
    this.#changed({ by: "hand", tile, step });
    return true;
  }

  /** Take the last move by hand back, or all that was played. */
  undo() {
    if (!this.history.length) return;
    const { board, by } = this.history.pop();
    if (by === "hand") this.made--;
    this.#return(board);
  }

  reset() {
    if (!this.history.length) return;
    const [{ board }] = this.history;
    this.history = [];
    this.made = 0;
    this.#return(board);
  }

  /** Show a board of the puzzle, which is no move by hand. */
  show(board) {
    if (board.every((tile, cell) => tile === this.board[cell])) return;
    if (this.by !== "player") this.#keep("player");
    this.board = [...board];
    this.#changed({ by: "player" });
  }

  /** How the goal was reached: moves are counted only if they were all made by hand. */
  get ending() {
    if (this.by !== "hand") return "this is the goal";
    return this.history.some(({ by }) => by !== "hand") ? "with the help of a solution" : `in ${moves(this.made)}`;
  }

  #keep(by) {
    this.history.push({ board: this.board, by });
  }

  #return(board) {
    this.board = board;
    this.#changed({ by: "undo" });
  }

  #changed(detail) {
    this.by = detail.by;
    this.#tell("board", detail);
  }

  #tell(event, detail = {}) {
    this.dispatchEvent(new CustomEvent(event, { detail }));
  }
}

export const game = new Game();
