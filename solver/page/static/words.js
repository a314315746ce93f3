// Elements and numbers, as several parts of the page need them.

export const $ = (id) => document.getElementById(id);

/** A new element with attributes and children, which may be text. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key in made && key !== "role") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** What a field says: a number if it is one in digits, else the text, for the server to judge; null if it is empty. */
export function number(text) {
  const typed = text.trim();
  return /^[-+]?(\d+\.?\d*|\.\d+)$/.test(typed) ? Number(typed) : typed || null;
}

export const count = (number) => Math.round(number).toLocaleString("en");

/** A number that may be large, in millions or billions. */
export function large(number) {
  if (number >= 1e9) return `${(number / 1e9).toFixed(2)} G`;
  return number >= 1e6 ? `${(number / 1e6).toFixed(1)} M` : count(number);
}

/** Write a text, unless it is there already: whoever has a page read out hears every change. */
export function write(target, text) {
  if (target.textContent !== String(text)) target.textContent = text;
}

export const moves = (number) => `${count(number)} ${number === 1 ? "move" : "moves"}`;

/** Show a problem in one line, or hide the line. */
export function complain(line, error) {
  line.hidden = !error;
  write(line, error ? sentence(error.message ?? error) : "");
}

export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Fill a list of facts: pairs of a name and a value; those without a value are left out. */
export function tell(list, facts) {
  list.replaceChildren(
    ...facts
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
  );
}

/** Fill a table with headings and rows of text. */
export function tabulate(table, headings, rows, isNumber = () => true) {
  const cell = (tag) => (word, column) => element(tag, { className: isNumber(column) ? "number" : "" }, word);
  const line = (tag, words) => element("tr", {}, ...words.map(cell(tag)));
  table.replaceChildren(
    element("thead", {}, line("th", headings)),
    element("tbody", {}, ...rows.map((row) => line("td", row))),
  );
}
