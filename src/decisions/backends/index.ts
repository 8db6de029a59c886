// The backends: one line each.

import type { BackendSpec, DecisionBackend } from "./backend.ts";
import { logprobs } from "./logprobs.ts";
import { openaiDecisions } from "./openai-decisions.ts";
import { systemone } from "./systemone.ts";
import { verbalized } from "./verbalized.ts";

/** Every backend. */
export const BACKENDS: readonly DecisionBackend[] = [systemone, openaiDecisions, logprobs, verbalized];

const byKind = new Map(BACKENDS.map((backend) => [backend.kind, backend]));

/** The backend of a version. Throws for an unknown kind, which configuration checks exclude. */
export function backendOf({ kind }: Pick<BackendSpec, "kind">): DecisionBackend {
  const backend = byKind.get(kind);
  if (backend === undefined) throw new Error(`no decision backend is called ${kind}`);
  return backend;
}
