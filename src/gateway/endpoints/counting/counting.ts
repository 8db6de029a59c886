// What a failed count of a provider means. An own count is better than none, so only an error of the request itself is reported.

import { UpstreamFault } from "../../../upstream/fault.ts";

/** Statuses of servers that do not have the endpoint. */
const NOT_OFFERED: ReadonlySet<number> = new Set([404, 405, 501]);

/** Whether the provider refused to count this request, so that the client must hear why. */
export function refusedCount(error: unknown): error is UpstreamFault {
  if (!(error instanceof UpstreamFault) || NOT_OFFERED.has(error.status)) return false;
  return error.kind === "bad_request" || error.kind === "refused";
}
