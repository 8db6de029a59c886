// The errors of MediaWiki's API, which have status 200.

import type { Parsed } from "../engine.ts";
import { valueAt } from "./json.ts";
import { failed } from "./status.ts";

/** The failure that a MediaWiki response reports; undefined if there is none. */
export function mediaWikiFailure(body: unknown): Parsed | undefined {
  const code = valueAt(body, "error.code");
  if (typeof code !== "string") return undefined;
  if (code === "ratelimited") return failed("rate_limited", "The wiki accepts no more requests at the moment.");
  if (/^(?:maxlag|readonly|internal_api_error|cirrussearch-)/.test(code))
    return failed("server_error", "The wiki is busy or has failed.");
  return failed("refused", "The wiki refused the request.");
}
