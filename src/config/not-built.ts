// Configuration keys without effect yet. They are accepted, so that a file written for a later version loads, and `doctor`
// reports them. A key leaves this list with the commit that uses it.

import { loadConfig } from "./load.ts";
import type { Config } from "./schema.ts";

/** A key, and how to read its value. */
export interface NotBuilt {
  /** As in the file, `web.model`. */
  readonly key: string;
  read(config: Config): unknown;
}

/** The keys. */
export const NOT_BUILT: readonly NotBuilt[] = [];

/** Those of them with another value than their default. */
export function setInVain(config: Config, list: readonly NotBuilt[] = NOT_BUILT): string[] {
  if (list.length === 0) return [];
  const plain = loadConfig({ env: {}, cwd: "/" });
  if (!plain.ok) throw new Error(plain.problems.join("; "));
  return list
    .filter(({ read }) => JSON.stringify(read(config)) !== JSON.stringify(read(plain.config)))
    .map(({ key }) => key);
}
