// GET /v1/runs, /v1/runs/{id} and POST /v1/runs/{id}/allow: the agent runs of one's own account, for management keys.

import type { AtOnce } from "../../../base/at-once.ts";
import { ApiError } from "../../../base/errors.ts";
import { lazily } from "../../../base/lazily.ts";
import { type BodyLimits, readJsonBody } from "../../../http/body.ts";
import { exchangeOf } from "../../../http/exchange.ts";
import { endpointsBehind, type ServedEndpoint } from "../../../http/served-endpoint.ts";
import type { AuditStore } from "../../../store/access/audit.ts";
import type { RunFilter } from "../../../store/work/runs.ts";
import type { Caller } from "../../admission/caller.ts";
import { gatewayText } from "../texts.ts";
import type { OwnedRuns } from "./allow.ts";

/** What the endpoints need. */
export interface RunEndpointDeps {
  /** Identifies the caller by a management key. Throws 401 and 403. */
  authenticateManager(request: Request): AtOnce<Caller>;
  readonly runs: OwnedRuns;
  readonly audit: Pick<AuditStore, "addAudit">;
  bodyLimits(): BodyLimits;
}

/** Few callers ask for runs. */
const code = lazily(async () => {
  const [{ runViews }, { allowOwnRun, allowedDetail, noRun }] = await Promise.all([
    import("./view.ts"),
    import("./allow.ts"),
  ]);
  return { runViews, allowOwnRun, allowedDetail, noRun };
});

const managed = endpointsBehind("management", (deps: RunEndpointDeps, request) => deps.authenticateManager(request));

const LIMIT_MAX = 100;

/** A management key of a project is handed to those who run it: the account's other runs are none of their business. */
function filterOf({ management, projectId }: Caller): RunFilter {
  return management === "project" ? { projectId: projectId ?? "" } : {};
}

/** The endpoints of agent runs. */
export const RUN_ENDPOINTS: readonly ServedEndpoint<RunEndpointDeps>[] = [
  managed("GET", "/v1/runs", {
    describe: gatewayText("listRuns"),
    async handle({ runs }, { caller, request }) {
      const { runViews } = await code();
      const query = new URL(request.url).searchParams;
      const limit = limitOf(query.get("limit"));
      const before = query.get("before") ?? undefined;
      const page = await runs.listRuns(caller.accountId, { limit, before, ...filterOf(caller) });
      return Response.json({ object: "list", data: await runViews(runs, page), has_more: page.length === limit });
    },
  }),
  managed("GET", "/v1/runs/:id", {
    describe: gatewayText("getRun"),
    async handle({ runs }, { caller, params }) {
      const { runViews, noRun } = await code();
      const run = await runs.findRun(caller.accountId, params.id, filterOf(caller));
      if (run === undefined) throw noRun();
      return Response.json((await runViews(runs, [run]))[0]);
    },
  }),
  managed("POST", "/v1/runs/:id/allow", {
    describe: gatewayText("allowRun"),
    async handle({ runs, audit, bodyLimits }, { caller, params, request }) {
      const { allowOwnRun, allowedDetail, noRun } = await code();
      if ((await runs.findRun(caller.accountId, params.id, filterOf(caller))) === undefined) throw noRun();
      const body = isEmpty(request) ? {} : (await readJsonBody(request, bodyLimits())).body;
      const run = await allowOwnRun(runs, caller.accountId, params.id, body);
      const detail = { ...allowedDetail(run, body), by_key: caller.keyId, by_key_name: caller.name };
      const { accountId } = caller;
      const userAgent = request.headers.get("user-agent") ?? "";
      const { address } = exchangeOf(request);
      await audit.addAudit({ accountId, event: "run_allowed", address, userAgent, detail });
      return Response.json(run);
    },
  }),
];

function limitOf(text: string | null): number {
  const limit = text === null ? 50 : Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new ApiError("invalid_request", `limit: expected a whole number from 1 to ${LIMIT_MAX}.`, { param: "limit" });
}

function isEmpty({ body, headers }: Request): boolean {
  return body === null || headers.get("content-length") === "0";
}
