// The names that a configuration may use; each list is its room's own. Most configurations use none, so they are loaded on demand.

import type { KnownNames } from "../config/fields.ts";

/** The names for checking the configuration. */
export const KNOWN_NAMES: KnownNames = {
  get "search engine"() {
    const { ENGINES }: typeof import("../search/engines/index.ts") = require("../search/engines/index.ts");
    return ENGINES.map(({ name }) => name);
  },
  get "decision backend"() {
    const { BACKENDS }: typeof import("../decisions/backends/index.ts") = require("../decisions/backends/index.ts");
    return BACKENDS.map(({ kind }) => kind);
  },
};
