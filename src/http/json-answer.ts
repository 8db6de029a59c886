// JSON answers that may be large.

import { jsonInTurns } from "../base/json-in-slices.ts";
import { exchangeOf } from "./exchange.ts";
import { wholeBody } from "./whole-body.ts";

/**
 * The response with a value as JSON. Large values are written in steps, so that streams need not wait; for callers within the
 * program, the value is handed over as it is.
 */
export async function jsonAnswer(request: Request, value: object): Promise<Response> {
  const { takeAnswer } = exchangeOf(request);
  if (takeAnswer !== undefined) {
    takeAnswer(value);
    return new Response(null);
  }
  return writtenJson(request, value);
}

/** The response with a value as JSON, for whoever asks. */
export async function writtenJson(request: Request, value: object): Promise<Response> {
  const text = await jsonInTurns(value);
  // A route sees HEAD as GET.
  const { method } = exchangeOf(request);
  // For HEAD, the server tells the length of a text, and not that of a stream.
  return new Response(method === "HEAD" ? text : wholeBody(text), {
    headers: { "content-type": "application/json;charset=utf-8" },
  });
}
