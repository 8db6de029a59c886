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
  return new Response(wholeBody(await jsonInTurns(value)), {
    headers: { "content-type": "application/json;charset=utf-8" },
  });
}
