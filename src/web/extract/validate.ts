// Validates answers against callers' schemas in threads with a deadline. A regular expression in a schema may never finish; its
// thread is then killed.

import { createPool, TaskTimeout } from "../../workers/pool.ts";
import { startThread } from "../../workers/start.ts";
import type { Complaint, ValidateAnswer, ValidateTask } from "./ajv.ts";
import type { JsonSchema } from "./schema.ts";
import { SchemaError } from "./schema-error.ts";

export type { Complaint };

/** Validates values. */
export interface Validator {
  /**
   * The errors of the value, at most fifty; none if it is valid. Throws `SchemaError` if the schema cannot be compiled or takes
   * too long, `PoolFull`, or the signal's reason.
   */
  validate(schema: JsonSchema, value: unknown, from: ValidateFrom): Promise<readonly Complaint[]>;
  close(): void;
}

/** The account whose schema it is, and the signal that ends the wait. */
export interface ValidateFrom {
  readonly account: string;
  readonly signal: AbortSignal;
}

/** Options. */
export interface ValidatorDeps {
  /** Time limit for one value, including the start of a thread. */
  readonly timeoutMs?: number;
}

/** Time limit for one value. The largest schemas take tenths of a second to compile. */
const TIMEOUT_MS = 5000;
const THREADS = 2;
const WAITING_MAX = 200;

/** Creates a validator; its threads start on first use. */
export function createValidator({ timeoutMs = TIMEOUT_MS }: ValidatorDeps = {}): Validator {
  const pool = createPool<ValidateTask, ValidateAnswer>({
    start: () => startThread("./web/extract/worker.ts", new URL("./worker.ts", import.meta.url)),
    size: THREADS,
    queueMax: WAITING_MAX,
  });
  return {
    async validate(schema, value, { account, signal }) {
      const answer = await pool.run({ schema, value }, { timeoutMs, account, signal }).catch((error: unknown) => {
        if (!(error instanceof TaskTimeout)) throw error;
        throw new SchemaError(
          "",
          "Checking an answer against the schema takes too long. Simplify the patterns in the schema.",
        );
      });
      if ("refused" in answer) throw new SchemaError("", `The schema cannot be used: ${answer.refused}`);
      return answer.complaints;
    },
    close: () => pool.close(),
  };
}
