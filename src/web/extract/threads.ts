// The work of an extraction whose cost follows from a page, a model's answer or a caller's schema: it runs in threads with a
// deadline, never on the event loop. A regular expression in a schema may never finish; its thread is then killed.

import { PageError } from "../../pages/page-error.ts";
import { createPool, TaskTimeout } from "../../workers/pool.ts";
import { startThread } from "../../workers/start.ts";
import type { Complaint } from "./ajv.ts";
import type { AnsweredPage, PartAnswer } from "./check-part.ts";
import type { StructuredAnswer, StructuredPage } from "./from-structured.ts";
import type { MergedAnswer, PageAnswer } from "./merge.ts";
import type { PageParts, PartsTask } from "./parts.ts";
import type { JsonSchema } from "./schema.ts";
import { SchemaError } from "./schema-error.ts";
import type { ThreadAnswer, ThreadTask } from "./thread-task.ts";

export type { Complaint };

/**
 * The work. All of it throws `PoolFull` and the signal's reason, and, apart from `validate`, `PageError` if it takes too long.
 */
export interface ExtractWork {
  /**
   * The errors of the value, at most fifty; none if it is valid. Throws `SchemaError` if the schema cannot be compiled or takes
   * too long.
   */
  validate(schema: JsonSchema, value: unknown, from: WorkFor): Promise<readonly Complaint[]>;
  /** Splits a page into parts that fit a model's window. */
  split(task: PartsTask, from: WorkFor): Promise<PageParts>;
  /** Checks a model's answer against its part of the page. */
  check(answer: PartAnswer, from: WorkFor): Promise<AnsweredPage>;
  /** Answers from a page's structured data. */
  structured(schema: JsonSchema, page: StructuredPage, from: WorkFor): Promise<StructuredAnswer>;
  merge(schema: JsonSchema | null, answers: readonly PageAnswer[], from: WorkFor): Promise<MergedAnswer>;
}

/** The threads. */
export interface ExtractThreads extends ExtractWork {
  close(): void;
}

/** The account for which work is done, and the signal that ends it. */
export interface WorkFor {
  readonly accountId: string;
  readonly signal: AbortSignal;
}

/** Options. */
export interface ExtractThreadsDeps {
  /** Time limit for one value, including the start of a thread. */
  readonly timeoutMs?: number;
}

/** Time limit for validating one value. The largest schemas take tenths of a second to compile. */
const TIMEOUT_MS = 5000;
/** Time limit of the other work. Its cost is bounded: the slowest pages take a second. */
const READ_TIMEOUT_MS = 20_000;
const THREADS = 2;
const WAITING_MAX = 400;

/** Creates the threads, which start on first use. */
export function createExtractThreads({ timeoutMs = TIMEOUT_MS }: ExtractThreadsDeps = {}): ExtractThreads {
  const pool = createPool<ThreadTask, ThreadAnswer>({
    start: () => startThread("./web/extract/worker.ts", new URL("./worker.ts", import.meta.url)),
    size: THREADS,
    queueMax: WAITING_MAX,
  });
  const run = async <Kind extends ThreadTask["kind"]>(
    task: Extract<ThreadTask, { kind: Kind }>,
    { accountId: account, signal }: WorkFor,
  ): Promise<Extract<ThreadAnswer, { kind: Kind }>> => {
    const limit = task.kind === "validate" ? timeoutMs : READ_TIMEOUT_MS;
    try {
      return (await pool.run(task, { timeoutMs: limit, account, signal })) as Extract<ThreadAnswer, { kind: Kind }>;
    } catch (error) {
      if (!(error instanceof TaskTimeout)) throw error;
      if (task.kind !== "validate") throw new PageError("conversion", "The page took too long to read.");
      throw new SchemaError(
        "",
        "Checking an answer against the schema takes too long. Simplify the patterns in the schema.",
      );
    }
  };
  return {
    async validate(schema, value, from) {
      const { answer } = await run<"validate">({ kind: "validate", schema, value }, from);
      if ("refused" in answer) throw new SchemaError("", `The schema cannot be used: ${answer.refused}`);
      return answer.complaints;
    },
    split: async (task, from) => (await run<"split">({ kind: "split", task }, from)).parts,
    check: async (answer, from) => (await run<"check">({ kind: "check", answer }, from)).page,
    structured: async (schema, page, from) =>
      (await run<"structured">({ kind: "structured", schema, page }, from)).answer,
    merge: async (schema, answers, from) => (await run<"merge">({ kind: "merge", schema, answers }, from)).merged,
    close: () => pool.close(),
  };
}
