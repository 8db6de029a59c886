// What is sent to the thread that reads engines' answers.

import type { EngineContext, EngineResponse } from "../engine.ts";

/** An answer, to be read by the engine of that name. */
export interface AnswerReadTask {
  readonly engine: string;
  /** Headers as pairs: the others cannot be sent. */
  readonly response: Omit<EngineResponse, "headers"> & { readonly headers: readonly (readonly [string, string])[] };
  readonly context: EngineContext;
}
