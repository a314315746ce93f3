// The player: a solution, played on the board.

import { game } from "./game.js";
import { $ } from "./words.js";

const same = (a, b) => a.every((tile, cell) => tile === b[cell]);

class Player {
  boards = []; // along the solution
  at = 0;
  timer = null;

  /** Take the solution of a board, given by the tiles to move; and play it. */
  load(board, tiles, play = false) {
    this.pause();
    this.boards = [board];
    for (const tile of tiles) this.boards.push(game.after(tile, this.boards.at(-1)));
    $("scrub").max = tiles.length;
    $("player").hidden = tiles.length === 0;
    this.go(0);
    if (play) this.play();
  }

  clear() {
    this.pause();
    this.boards = [];
    $("player").hidden = true;
  }

  go(at) {
    this.at = Math.max(0, Math.min(at, this.boards.length - 1));
    game.show(this.boards[this.at]);
    this.tell();
  }

  play() {
    if (this.at === this.boards.length - 1) this.go(0);
    $("play").textContent = "Pause";
    const tick = () => {
      this.go(this.at + 1);
      if (this.at === this.boards.length - 1) this.pause();
      else this.timer = setTimeout(tick, 1000 / $("speed").value);
    };
    this.timer = setTimeout(tick, 1000 / $("speed").value);
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    $("play").textContent = "Play";
  }

  /** Somebody has moved a tile: along the solution, or off it. */
  leave() {
    this.pause();
    const there = (at) => this.boards[at] && same(this.boards[at], game.board);
    const next = [this.at + 1, this.at - 1, ...this.boards.keys()].find(there); // it may be undone by a jump
    if (next !== undefined) {
      this.at = next;
      return this.tell();
    }
    $("player-place").textContent = "off the way: move the slider to return";
  }

  tell() {
    const last = this.boards.length - 1;
    $("scrub").value = this.at;
    $("scrub").setAttribute("aria-valuetext", `move ${this.at} of ${last}`);
    $("player-place").textContent = `move ${this.at} of ${last}`;
    $("first").disabled = $("back").disabled = this.at === 0;
    $("step").disabled = $("last").disabled = this.at === last;
  }
}

export const player = new Player();

export function listen(speed) {
  $("speed").value = speed.usual;
  $("speed").max = speed.fastest;
  const on = (id, event, handler) => $(id).addEventListener(event, handler);
  const jump = (to) => () => {
    player.pause();
    player.go(to());
  };
  on("play", "click", () => (player.timer === null ? player.play() : player.pause()));
  on("first", "click", jump(() => 0));
  on("back", "click", jump(() => player.at - 1));
  on("step", "click", jump(() => player.at + 1));
  on("last", "click", jump(() => player.boards.length - 1));
  on("scrub", "input", jump(() => Number($("scrub").value)));
  game.addEventListener("puzzle", () => player.clear());
  game.addEventListener("board", ({ detail }) => {
    if (player.boards.length && detail.by !== "player") player.leave();
  });
}
