// The errors of MediaWiki's API, which have status 200.

import type { EngineResponse, Parsed } from "../engine.ts";
import { valueAt } from "./json.ts";
import { failed, rateLimited } from "./status.ts";

/** The failure that a MediaWiki response reports; undefined if there is none. */
export function mediaWikiFailure(body: unknown, response: EngineResponse): Parsed | undefined {
  const code = valueAt(body, "error.code");
  if (typeof code !== "string") return undefined;
  if (code === "ratelimited" || code === "maxlag")
    return rateLimited(response, "The wiki accepts no more requests at the moment.");
  if (/^(?:readonly|internal_api_error|cirrussearch-)/.test(code))
    return failed("unanswered", "The wiki could not answer the query.");
  return failed("refused", "The wiki refused the request.");
}
