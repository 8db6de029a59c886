// The list of backends, with one line for each.

import type { BackendSpec, DecisionBackend } from "./backend.ts";
import { logprobs } from "./logprobs.ts";
import { openaiDecisions } from "./openai-decisions.ts";
import { systemone } from "./systemone.ts";
import { verbalized } from "./verbalized.ts";

/** All backends. */
export const BACKENDS: readonly DecisionBackend[] = [systemone, openaiDecisions, logprobs, verbalized];

const byKind = new Map(BACKENDS.map((backend) => [backend.kind, backend]));

/** The backend of a version. Throws for an unknown kind, which the check of the configuration excludes. */
export function backendOf({ kind }: Pick<BackendSpec, "kind">): DecisionBackend {
  const backend = byKind.get(kind);
  if (backend === undefined) throw new Error(`there is no decision backend ${kind}`);
  return backend;
}
