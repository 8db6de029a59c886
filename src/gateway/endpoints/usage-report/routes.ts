// GET /v1/usage: what was used and spent, for holders of management keys. What it does is loaded with the first request.

import type { AtOnce } from "../../../base/at-once.ts";
import { lazily } from "../../../base/lazily.ts";
import { endpointsBehind, type ServedEndpoint } from "../../../http/served-endpoint.ts";
import type { Caller } from "../../admission/caller.ts";
import { gatewayText } from "../texts.ts";
import type { UsageReportDeps } from "./report.ts";

/** What the endpoint needs. */
export interface UsageReportRoutesDeps extends UsageReportDeps {
  /** Identifies the caller by a management key. Throws 401 and 403. */
  authenticateManager(request: Request): AtOnce<Caller>;
}

const answer = lazily(() => {
  const { answerUsageReport }: typeof import("./report.ts") = require("./report.ts");
  return answerUsageReport;
});

const managed = endpointsBehind("management", (deps: UsageReportRoutesDeps, request) =>
  deps.authenticateManager(request),
);

/** The endpoint. */
export const USAGE_REPORT_ENDPOINTS: readonly ServedEndpoint<UsageReportRoutesDeps>[] = [
  managed("GET", "/v1/usage", {
    describe: gatewayText("getUsage"),
    handle: (deps, { request, caller }) => answer()(deps, request, scopeOf(caller)),
  }),
];

/** Whose usage a management key may see. */
function scopeOf({
  management,
  accountId,
  projectId,
}: Caller): Parameters<typeof import("./report.ts").answerUsageReport>[2] {
  if (management === "all") return {};
  return management === "project" ? { projectId: projectId ?? "" } : { accountId };
}
