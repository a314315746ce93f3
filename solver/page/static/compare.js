// Compare: a set of methods on this board or on random ones, in a table and a chart that grow.
//
// The table is the one that the command line prints, and the lines of the file are those that it writes.

import { ask, isAborted, run } from "./api.js";
import { game } from "./game.js";
import { about, heuristics } from "./methods.js";
import { $, complain, count, element, number, tabulate, write } from "./words.js";

const FIRST = ["manhattan", "linear-conflict", "pdb"]; // what is compared unless something else is chosen

let running = null; // { controller, id }
let lines = []; // of the CSV file

function options(box, entries, chosen) {
  box.replaceChildren(...entries.map(({ name, summary }) => element(
    "label",
    { className: "check", title: summary },
    element("input", { type: "checkbox", value: name, checked: chosen.includes(name) }),
    ` ${name}`,
  )));
}

const checked = (box) => [...box.querySelectorAll("input:checked")].map((one) => one.value);

function offer() {
  const { databases, wrap } = game.puzzle;
  const usual = FIRST.filter((name) => (name !== "pdb" || databases.length) && (name !== "linear-conflict" || !wrap));
  options($("heuristics"), heuristics(), usual);
}

function wanted() {
  const random = document.querySelector("[name=boards]:checked").value === "random";
  return {
    ...game.fields(),
    heuristics: checked($("heuristics")),
    algorithms: checked($("algorithms")),
    time_limit: number($("compare-seconds").value) ?? "",
    ...(random ? { number: number($("number").value) ?? "", seed: number($("compare-seed").value) ?? "" } : {}),
  };
}

async function compare() {
  giveUp();
  const mine = (running = { controller: new AbortController(), id: null });
  let names = [], searches = 0, done = 0;
  lines = [];
  $("comparison").hidden = false;
  $("csv").disabled = true;
  $("bars").replaceChildren();
  $("comparison-table").replaceChildren();
  complain($("comparison-problem"), null);
  state("Beginning", true);
  write($("comparison-said"), "The comparison begins");
  try {
    await run("compare", wanted(), {
      place({ id, place }) {
        mine.id = id;
        state(place ? `Waiting: ${place - 1 ? `${place - 1} before this one` : "next in line"}` : "Preparing", true);
      },
      progress({ preparing, generated }) {
        if (preparing) state(`Preparing: ${preparing}`, true);
        else if (searches) state(`${done} of ${searches} searches done; this one has ${count(generated)} nodes`, true);
      },
      methods(facts) {
        ({ names, searches } = facts);
        lines = [facts.header];
        state(`0 of ${searches} searches done`, true);
      },
      cell(facts) {
        done = facts.done;
        lines.push(facts.line);
        $("csv").disabled = false;
        $("comparison-share").value = done / searches;
        state(`${done} of ${searches} searches done`, true);
      },
      table: (table) => draw(names, table),
    }, mine.controller.signal);
    const part = searches ? `Stopped after ${done} of ${searches} searches` : "Stopped before the first search";
    const words = searches && done === searches ? `${done} searches done` : part;
    if (running === mine) end(words);
  } catch (error) {
    if (isAborted(error) || running !== mine) return;
    end("Refused");
    complain($("comparison-problem"), error);
  }
  if (running === mine) running = null;
}

function state(words, busy) {
  write($("comparison-state"), words);
  $("compare-stop").disabled = !busy;
  $("comparison-share").hidden = !busy;
}

/** Show how a comparison has ended, and say so: the numbers on the way are not read out. */
function end(words) {
  state(words, false);
  write($("comparison-said"), words);
}

/** The table, and a bar for each method: its length is the logarithm of the nodes. */
function draw(names, { headings, numbers, rows, bars }) {
  tabulate($("comparison-table"), headings, rows, (column) => numbers[column]);
  const most = Math.max(...bars.map(({ generated }) => generated));
  const decades = Math.max(1, Math.ceil(Math.log10(most)));
  $("bars").replaceChildren(...bars.map(({ generated, cut_short }, at) => {
    const bar = element("div", { className: "bar" }), track = element("div", { className: "track" }, bar);
    bar.style.width = `${(100 * Math.log10(Math.max(generated, 1.2))) / decades}%`;
    bar.style.background = about.colours.rainbow[at % about.colours.rainbow.length];
    track.style.setProperty("--decade", `${100 / decades}%`);
    return element(
      "div", { className: "method" },
      element("span", { className: "name" }, names[at]), track,
      element("span", { className: "value" }, `${cut_short ? "> " : ""}${count(generated)}`),
    );
  }), element("p", { className: "axis quiet" }, "1", element("span", {}, `${count(10 ** decades)}`)));
}

function stop() {
  if (!running) return;
  if (!running.id) return giveUp();
  $("compare-stop").disabled = true;
  ask("stop", { id: running.id }).catch(() => {});
}

function giveUp() {
  if (!running) return;
  running.controller.abort();
  running = null;
  end("Stopped");
}

function download() {
  const link = element("a", {
    href: URL.createObjectURL(new Blob(lines, { type: "text/csv" })),
    download: `comparison-${game.puzzle.rows}x${game.puzzle.cols}.csv`,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export function start() {
  options($("algorithms"), about.algorithms, ["ida-star"]);
  const random = () => {
    const chosen = document.querySelector("[name=boards]:checked").value === "random";
    $("number").disabled = $("compare-seed").disabled = !chosen;
  };
  $("compare").addEventListener("change", random);
  random();
  $("compare").addEventListener("submit", (event) => {
    event.preventDefault();
    compare();
  });
  $("compare-stop").addEventListener("click", stop);
  $("csv").addEventListener("click", download);
  game.addEventListener("puzzle", () => {
    giveUp();
    $("comparison").hidden = true;
    offer();
  });
}
