// The search of a running gateway. Its code and the list of engines are loaded with the first search: many gateways never search.

import { lazily } from "../base/lazily.ts";
import { HealthBook } from "./health.ts";
import type { Search, SearchDeps } from "./run.ts";

/** Creates a search over all engines at its first use. Only the engines' health is kept from the start on. */
export function createLateSearch(deps: Omit<SearchDeps, "engines" | "health">): Search {
  const health = new HealthBook(deps.clock);
  const search = lazily(() => {
    const { ENGINES }: typeof import("./engines/index.ts") = require("./engines/index.ts");
    const { createSearch }: typeof import("./run.ts") = require("./run.ts");
    return createSearch({ ...deps, engines: ENGINES, health });
  });
  return {
    health,
    search: (request, signal) => search().search(request, signal),
    engines: () => search().engines(),
    probe: (name, signal) => search().probe(name, signal),
    running: () => search.ifMade()?.running() ?? 0,
    reconfigure: () => search.ifMade()?.reconfigure(),
    close: () => search.ifMade()?.close(),
  };
}
