// Compares the names in the SDKs' types with the verdicts of the code and those that were written down.

import { DECIDED, type Decided } from "./decided.ts";
import type { SdkTypes } from "./declarations.ts";
import { KNOWN } from "./known.ts";
import { SUBJECTS, type Subject } from "./subjects.ts";
import { type Decision, VERDICTS, type Verdict } from "./verdict.ts";

/** A name of an SDK and what the gateway does with it. */
export interface WatchRow {
  sdk: string;
  kind: string;
  name: string;
  /** Undefined: nobody has decided yet. */
  verdict: Verdict | undefined;
  note: string;
  /** Whether the verdict comes from the gateway's code. */
  derived: boolean;
}

/** The result of a comparison. */
export interface Watch {
  rows: WatchRow[];
  /** Written verdicts on names that no SDK has any more, or that the code decides, and types that cannot be found any more. */
  stale: string[];
}

/** The rows of every subject. `subjects` and `decided` are the repository's own, except in tests. */
export function compare(
  types: SdkTypes,
  { subjects = SUBJECTS, decided = DECIDED }: { subjects?: readonly Subject[]; decided?: Decided } = {},
): Watch {
  const rows: WatchRow[] = [];
  const stale: string[] = [];
  for (const { sdk, kind, names } of subjects) {
    const key = `${sdk} ${kind}`;
    const known = KNOWN[key];
    const written = writtenVerdicts(decided[key]);
    let inSdk: Set<string>;
    try {
      inSdk = new Set(names(types));
    } catch (error) {
      // A type was moved or renamed: the other kinds are still compared.
      stale.push(`${key}: ${(error as Error).message}`);
      continue;
    }
    for (const name of inSdk) {
      const own = known?.(name);
      const { verdict, note = "" } = own ?? written.get(name) ?? { verdict: undefined };
      rows.push({ sdk, kind, name, verdict, note, derived: own !== undefined });
      if (own !== undefined && written.has(name)) stale.push(`${key} ${name}: the code decides it`);
    }
    for (const name of written.keys()) if (!inSdk.has(name)) stale.push(`${key} ${name}: no such name any more`);
  }
  const keys = new Set(subjects.map(({ sdk, kind }) => `${sdk} ${kind}`));
  for (const key of Object.keys(decided)) if (!keys.has(key)) stale.push(`${key}: no such kind any more`);
  return { rows, stale };
}

function writtenVerdicts(written: Decided[string] | undefined): Map<string, Decision> {
  const out = new Map<string, Decision>();
  for (const verdict of VERDICTS) {
    for (const [note, names] of Object.entries(written?.[verdict] ?? {})) {
      for (const name of names.split(/\s+/)) out.set(name, { verdict, note });
    }
  }
  return out;
}
