// The page: its parts put together, and the tabs.

import { ask } from "./api.js";
import * as compare from "./compare.js";
import "./drawing.js";
import * as fewest from "./fewest.js";
import * as hands from "./hands.js";
import * as inside from "./inside.js";
import { know } from "./methods.js";
import * as play from "./play.js";
import * as player from "./player.js";
import * as solve from "./solve.js";
import { $, complain } from "./words.js";

const TABS = ["play", "solve", "inside", "compare"];

function select(name) {
  for (const one of TABS) {
    const tab = $(`tab-${one}`);
    tab.setAttribute("aria-selected", String(one === name));
    tab.tabIndex = one === name ? 0 : -1;
    $(`panel-${one}`).hidden = one !== name;
  }
  fewest.setOpen(name === "play" || name === "inside");
  inside.setOpen(name === "inside");
}

function listen() {
  TABS.forEach((name, at) => {
    $(`tab-${name}`).addEventListener("click", () => select(name));
    $(`tab-${name}`).addEventListener("keydown", (event) => {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = TABS[(to + TABS.length) % TABS.length];
      select(next);
      $(`tab-${next}`).focus();
    });
  });
}

try {
  const about = await ask("about");
  know(about);
  $("version").textContent = `Version ${about.version}.`;
  document.documentElement.style.setProperty("--night", about.colours.night);
  listen();
  hands.listen();
  player.listen(about.speed);
  fewest.listen();
  solve.start();
  inside.start();
  compare.start();
  await play.start(about);
} catch (error) {
  complain($("trouble"), error);
}
