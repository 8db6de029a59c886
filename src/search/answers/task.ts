// The messages to the thread that parses engines' responses.

import type { EngineContext, EngineResponse } from "../engine.ts";

/** A response to parse, and its engine's name. */
export interface AnswerReadTask {
  readonly engine: string;
  /** Headers as pairs: a Headers object cannot be sent. */
  readonly response: Omit<EngineResponse, "headers"> & { readonly headers: readonly (readonly [string, string])[] };
  readonly context: EngineContext;
}
