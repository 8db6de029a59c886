// Parses engines' responses: small ones and JSON directly, large pages in a thread with a deadline, so that streams are not
// delayed.

import { availableParallelism } from "node:os";
import { createPool, TaskTimeout } from "../../workers/pool.ts";
import { startThread } from "../../workers/start.ts";
import type { EngineContext, EngineResponse, Parsed, SearchEngine } from "../engine.ts";
import { ENGINES } from "../engines/index.ts";
import type { AnswerReadTask } from "./task.ts";

/** Parses responses. */
export interface AnswerReader {
  /** The result in an engine's response. Throws `PoolFull`, or the signal's reason. */
  read(engine: SearchEngine, response: EngineResponse, context: EngineContext, signal: AbortSignal): Promise<Parsed>;
  close(): void;
}

/** Markup up to this length is parsed directly, which takes a few milliseconds. */
const MARKUP_CHARS_MAX = 32_000;
/** JSON up to this length is parsed directly; it is parsed ten times as fast. */
const CHARS_MAX = 512_000;
/** The time limit in a thread. Half a megabyte of markup takes two tenths of a second. */
const TIMEOUT_MS = 5000;
const THREADS_MAX = 2;
/** Maximum number of characters in responses that wait for a thread. */
const WAITING_CHARS_MAX = 64_000_000;

/** Creates a parser. Its threads start on first use. */
export function createAnswerReader(): AnswerReader {
  const pool = createPool<AnswerReadTask, Parsed>({
    start: () => startThread("./search/answers/worker.ts", new URL("./worker.ts", import.meta.url)),
    size: Math.min(THREADS_MAX, availableParallelism()),
    weigh: ({ response }) => response.body.length,
    weightMax: WAITING_CHARS_MAX,
  });
  return {
    async read(engine, response, context, signal) {
      // The thread only has the engines of the list.
      if (!isLarge(response.body) || !ENGINES.includes(engine)) return engine.parse(response, context);
      const task = { engine: engine.name, response: { ...response, headers: [...response.headers] }, context };
      try {
        // Engines are the operator's choice, and searches of several accounts may share an answer, so it is nobody's own.
        return await pool.run(task, { timeoutMs: TIMEOUT_MS, signal, account: "" });
      } catch (error) {
        if (!(error instanceof TaskTimeout)) throw error;
        const message = "The engine's answer takes too long to read.";
        return { kind: "failure", failure: { kind: "changed_markup", message } };
      }
    },
    close: () => pool.close(),
  };
}

function isLarge(body: string): boolean {
  if (body.length <= MARKUP_CHARS_MAX) return false;
  return body.length > CHARS_MAX || /^\s*</.test(body);
}
