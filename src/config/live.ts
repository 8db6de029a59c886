// The configuration of a running program. A reload replaces it as a whole or not at all.

import { lazily } from "../base/lazily.ts";
import { type LoadResult, secretsOf } from "./load.ts";
import { type ConfigValue, describeConfig, type Origin } from "./origin.ts";
import type { Config } from "./schema.ts";

const comparing = lazily(() => {
  const { changedFixtures }: typeof import("./changed-fixtures.ts") = require("./changed-fixtures.ts");
  return changedFixtures;
});

/** A configuration that was read without a problem. */
type Loaded = Omit<Extract<LoadResult, { ok: true }>, "ok">;

/** The result of a reload. */
export type ReloadResult =
  | {
      readonly ok: true;
      /** Keys that changed but are only read at the start. */
      readonly needRestart: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Holds the present configuration. */
export class LiveConfig {
  #config: Config;
  #origin: Origin;
  #file: string | undefined;
  #warnings: readonly string[];
  readonly #load: (file: string | undefined) => LoadResult;

  /** `load` returns the next configuration; it is called at each reload, with the file of the present one if there is one. */
  constructor({ config, origin, file, warnings }: Loaded, load: (file: string | undefined) => LoadResult) {
    this.#config = config;
    this.#origin = origin;
    this.#file = file;
    this.#warnings = warnings;
    this.#load = load;
  }

  /** The current configuration. Call again rather than keep it. May be handed on by itself. */
  readonly get = (): Config => this.#config;

  /** What is doubtful in the current configuration: ignored variables, old names of keys. A line each. */
  warnings(): readonly string[] {
    return this.#warnings;
  }

  /** What `make` derives from the current configuration; computed once for each. */
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

  /** Each value with its origin, secrets hidden. Computed at each call. */
  describe(): { readonly file: string | undefined; readonly values: readonly ConfigValue[] } {
    return {
      file: this.#origin.file,
      values: describeConfig(this.#origin, this.#config, secretsOf(this.#config)),
    };
  }

  /** Takes the new configuration if it has no problems. */
  reload(): ReloadResult {
    // The same file: one that was removed, or is being replaced, is a fault and not the wish for the defaults.
    const result = this.#load(this.#file);
    if (!result.ok) return { ok: false, problems: result.problems };
    if (isEmpty(result.origin) && !isEmpty(this.#origin)) {
      return { ok: false, problems: [`${result.file}: is empty; write {} into it to return to the defaults`] };
    }
    const before = this.#config;
    this.#config = result.config;
    this.#origin = result.origin;
    this.#file = result.file;
    this.#warnings = result.warnings;
    return { ok: true, needRestart: comparing()(before, result.config) };
  }
}

/** A file that is there without a word, as an editor or a shell leaves it while it writes. */
function isEmpty({ file, text }: Origin): boolean {
  return file !== undefined && text.trim() === "";
}
