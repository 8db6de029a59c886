// What the phases of the trial share.

import type { Key } from "./client.ts";
import type { Cluster } from "./cluster.ts";
import type { Journal } from "./journal.ts";
import type { TrialUpstream } from "./upstream.ts";

/** The running trial. */
export interface Trial {
  readonly cluster: Cluster;
  readonly journal: Journal;
  readonly upstream: TrialUpstream;
  /** A key whose limit is never reached. */
  readonly key: Key;
  /** `flags`: further ones of `key create`. */
  newKey(name: string, rpm: number, ...flags: string[]): Promise<Key>;
  /** The id of a new project. */
  newProject(name: string, ...flags: string[]): Promise<string>;
  /** How long the load continues under each fault. */
  readonly phaseMs: number;
  /** Counts a check, which passes if there is no problem. */
  check(name: string, problems: readonly string[], figures?: string): void;
}
