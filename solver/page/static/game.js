// The game: the puzzle, the board as it is now, and the moves made by hand.
//
// Whoever shows the board listens for "board"; whoever depends on the puzzle, for "puzzle". The server says what a
// puzzle is; moving a tile needs no server.

class Game extends EventTarget {
  puzzle = null; // as the server describes it
  board = [];
  history = []; // boards before each move made by hand

  /** Begin with a puzzle as the server describes it. */
  begin(puzzle) {
    this.puzzle = puzzle;
    this.board = [...puzzle.board];
    this.history = [];
    this.#tell("puzzle");
    this.#tell("board", { by: "puzzle" });
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
    this.history.push(this.board);
    this.board = this.after(tile);
    this.#tell("board", { by: "hand", tile, step });
    return true;
  }

  undo() {
    if (this.history.length) this.show(this.history.pop(), "undo");
  }

  reset() {
    if (!this.history.length) return;
    const [first] = this.history;
    this.history = [];
    this.show(first, "undo");
  }

  /** Show a board of the puzzle, which is no move by hand. */
  show(board, by = "player") {
    this.board = [...board];
    this.#tell("board", { by });
  }

  #tell(event, detail = {}) {
    this.dispatchEvent(new CustomEvent(event, { detail }));
  }
}

export const game = new Game();
