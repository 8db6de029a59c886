// The errors of MediaWiki's API, which have status 200.

import type { Parsed } from "../engine.ts";
import { valueAt } from "./json.ts";
import { failed } from "./status.ts";

/** The failure in a MediaWiki response; undefined if there is none. */
export function mediaWikiFailure(body: unknown): Parsed | undefined {
  const code = valueAt(body, "error.code");
  if (typeof code !== "string") return undefined;
  if (code === "ratelimited") return failed("rate_limited", "The wiki takes no more requests for now.");
  if (/^(?:maxlag|readonly|internal_api_error|cirrussearch-)/.test(code))
    return failed("server_error", "The wiki is busy or out of order.");
  return failed("refused", "The wiki would not take the request.");
}
