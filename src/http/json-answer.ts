// Answers that may be large.

import { jsonInTurns } from "../base/json-turns.ts";
import { exchangeOf } from "./exchange.ts";

/** The value as JSON. Pages are megabytes, and streams do not wait for them; within the program the value is handed over as it is. */
export async function jsonAnswer(request: Request, value: object): Promise<Response> {
  const { takeAnswer } = exchangeOf(request);
  if (takeAnswer !== undefined) {
    takeAnswer(value);
    return new Response(null);
  }
  return new Response(await jsonInTurns(value), { headers: { "content-type": "application/json;charset=utf-8" } });
}
