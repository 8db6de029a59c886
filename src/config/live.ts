// The configuration of a running program. A reload replaces it as a whole or not at all.

import type { LoadResult } from "./load.ts";
import type { Config } from "./schema.ts";

/** What a reload came to. */
export type ReloadResult =
  | {
      readonly ok: true;
      /** Keys that changed but are read at the start only. */
      readonly needRestart: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Holds the present configuration. */
export class LiveConfig {
  #config: Config;
  readonly #load: () => LoadResult;

  /** `load` gives the next configuration; it is called at each reload. */
  constructor(config: Config, load: () => LoadResult) {
    this.#config = config;
    this.#load = load;
  }

  /** The present configuration. Ask again rather than keep it. */
  get(): Config {
    return this.#config;
  }

  /** What `make` makes of the present configuration; made once for each. */
  derive<T>(make: (config: Config) => T): () => T {
    let of: Config | undefined;
    let made: T;
    return () => {
      if (of !== this.#config) {
        of = this.#config;
        made = make(of);
      }
      return made;
    };
  }

  /** Takes the new configuration if it has no problems. */
  reload(): ReloadResult {
    const result = this.#load();
    if (!result.ok) return { ok: false, problems: result.problems };
    const before = this.#config;
    this.#config = result.config;
    return { ok: true, needRestart: changedFixtures(before, result.config) };
  }
}

function changedFixtures(before: Config, after: Config): string[] {
  const fixtures = {
    "server.host": (c: Config) => c.server.host,
    "server.port": (c: Config) => c.server.port,
    data_dir: (c: Config) => c.dataDir,
  };
  return Object.entries(fixtures)
    .filter(([, of]) => of(before) !== of(after))
    .map(([key]) => key);
}
