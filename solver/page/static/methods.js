// Which algorithms and heuristics there are: what the registries say, and the databases that fit the puzzle.

import { game } from "./game.js";

export let about = null; // what the server says of itself

export function know(facts) {
  about = facts;
}

export const algorithm = (name) => about.algorithms.find((one) => one.name === name);

/** The heuristics of the puzzle by name, each with a summary: those of the registry, and each database. */
export function heuristics() {
  const databases = game.puzzle.databases.map((name) => ({ name: `pdb:${name}`, summary: "this database" }));
  return [...about.heuristics, ...databases];
}
