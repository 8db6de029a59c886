// The messages to the thread that parses engines' responses.

import type { EngineContext, EngineResponse } from "../engine.ts";

/** A response to parse, with the name of its engine. */
export interface AnswerReadTask {
  readonly engine: string;
  /** The headers are pairs, since a Headers object cannot be sent. */
  readonly response: Omit<EngineResponse, "headers"> & { readonly headers: readonly (readonly [string, string])[] };
  readonly context: EngineContext;
}
