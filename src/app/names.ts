// The names that a configuration may use; each list is its room's own.

import type { KnownNames } from "../config/fields.ts";
import { BACKENDS } from "../decisions/backends/index.ts";
import { ENGINES } from "../search/engines/index.ts";

/** The names for checking the configuration. */
export const KNOWN_NAMES: KnownNames = {
  "search engine": ENGINES.map(({ name }) => name),
  "decision backend": BACKENDS.map(({ kind }) => kind),
};
