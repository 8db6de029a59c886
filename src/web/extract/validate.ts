// Checks answers against callers' schemas in threads with a deadline: a schema may hold a regular expression that never
// comes to an end, and its thread is ended then.

import { createPool, TaskTimeout } from "../../workers/pool.ts";
import { startThread } from "../../workers/start.ts";
import type { Complaint, ValidateAnswer, ValidateTask } from "./ajv.ts";
import { type JsonSchema, SchemaError } from "./schema.ts";

export type { Complaint };

/** Checks values. */
export interface Validator {
  /**
   * What is wrong with the value, at most fifty complaints; empty: it fits. Throws `SchemaError` when the schema cannot be
   * compiled or takes too long, `PoolFull`, or the signal's reason.
   */
  validate(schema: JsonSchema, value: unknown, signal: AbortSignal): Promise<readonly Complaint[]>;
  close(): void;
}

/** How it works. */
export interface ValidatorDeps {
  /** For one value, the start of a thread included. */
  readonly timeoutMs?: number;
}

/** The largest schemas take tenths of a second to compile. */
const TIMEOUT_MS = 5000;
const THREADS = 2;
const WAITING_MAX = 200;

/** Makes one; its threads start when first needed. */
export function createValidator({ timeoutMs = TIMEOUT_MS }: ValidatorDeps = {}): Validator {
  const pool = createPool<ValidateTask, ValidateAnswer>({
    start: () => startThread("./web/extract/worker.ts", new URL("./worker.ts", import.meta.url)),
    size: THREADS,
    queueMax: WAITING_MAX,
  });
  return {
    async validate(schema, value, signal) {
      const answer = await pool.run({ schema, value }, { timeoutMs, signal }).catch((error: unknown) => {
        if (!(error instanceof TaskTimeout)) throw error;
        throw new SchemaError("", "Checking an answer against the schema takes too long; a pattern in it may be why.");
      });
      if ("refused" in answer) throw new SchemaError("", `The schema cannot be used: ${answer.refused}`);
      return answer.complaints;
    },
    close: () => pool.close(),
  };
}
