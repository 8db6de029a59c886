// The request log: an account's own requests, and for operators those of all accounts. It does not contain the content
// of requests.

import { ApiError } from "../../base/errors.ts";
import type { KeyDebugStore } from "../../store/access/key-debug.ts";
import type { KeyStore } from "../../store/access/keys.ts";
import type { LogFilter } from "../../store/usage/log.ts";
import { LogFollower } from "../../store/usage/log-follower.ts";
import { dayOf } from "../../store/usage/record.ts";
import type { UsageStore } from "../../store/usage/usage.ts";
import type { Listing } from "../contract.ts";
import type { LogChoices, LogPageView, WireView } from "../contract-log.ts";
import { admin, type Endpoint, type MemberRequest, member } from "./endpoint.ts";
import { pageOf } from "./form.ts";
import { EXPORT_FORMATS, type ExportFormat, exportResponse } from "./log-export.ts";
import type { LiveViews } from "./log-live.ts";
import { afterOf, logFilterOf } from "./log-query.ts";
import { type LogViewDeps, logRowViews } from "./log-view.ts";

export interface LogApiDeps extends LogViewDeps {
  readonly usage: LogViewDeps["usage"] &
    Pick<UsageStore, "listLog" | "followLog" | "findLogRow" | "lastLogId" | "sumsByDayAndModel" | "sumsOfDay">;
  readonly keys: Pick<KeyStore, "listKeys">;
  readonly keyDebug: Pick<KeyDebugStore, "listDebugRecords">;
  readonly liveViews: LiveViews;
  /** Whether the session of a request is still valid. */
  isSignedIn(request: Request): Promise<boolean>;
}

const PER_PAGE = 50;
/** The filter offers the models that were used in this many days. */
const CHOICE_DAYS = 30;

/** The endpoints of the request log. */
export function logApi(deps: LogApiDeps): Endpoint[] {
  const own = ({ who }: MemberRequest) => who.account.id;
  const everybody = () => undefined;
  return [
    member("GET", "/log", (visit) => page(deps, visit, own(visit))),
    member("GET", "/log/choices", (visit) => choices(deps, own(visit))),
    member("GET", "/log/live", (visit) => live(deps, visit, own(visit))),
    member("GET", "/log/:id/wire", (visit) => wireOf(deps, visit, own(visit))),
    member("GET", "/log/export", (visit) => exported(deps, visit, own(visit))),
    admin("GET", "/admin/log", (visit) => page(deps, visit, everybody())),
    admin("GET", "/admin/log/choices", () => choices(deps, everybody())),
    admin("GET", "/admin/log/live", (visit) => live(deps, visit, everybody())),
    admin("GET", "/admin/log/:id/wire", (visit) => wireOf(deps, visit, everybody())),
    admin("GET", "/admin/log/export", (visit) => exported(deps, visit, everybody())),
  ];
}

/** `accountId` undefined: all accounts. */
function filterOf(deps: LogApiDeps, { query }: MemberRequest, accountId: string | undefined): LogFilter {
  return { ...logFilterOf(query, deps.clock), accountId };
}

async function page(deps: LogApiDeps, visit: MemberRequest, accountId: string | undefined): Promise<LogPageView> {
  // Read before the rows, so that the live view does not miss rows that are written in between.
  const last = await deps.usage.lastLogId();
  const options = { ...pageOf(visit.query), limit: PER_PAGE };
  const { rows, nextBeforeId } = await deps.usage.listLog(filterOf(deps, visit, accountId), options);
  const data = await logRowViews(deps, rows, { named: accountId === undefined });
  return { data, next: nextBeforeId, last: Math.max(last, data[0]?.id ?? 0) };
}

async function choices(deps: LogApiDeps, accountId: string | undefined): Promise<LogChoices> {
  const toDay = dayOf(deps.clock.now());
  const models = new Set<string>();
  if (accountId === undefined) {
    for (const day of [toDay - 1, toDay]) for (const { model } of await deps.usage.sumsOfDay(day)) models.add(model);
  } else {
    const range = { fromDay: toDay - CHOICE_DAYS + 1, toDay };
    for (const { model } of await deps.usage.sumsByDayAndModel(accountId, range)) models.add(model);
  }
  models.delete("");
  const keys = accountId === undefined ? [] : await deps.keys.listKeys(accountId);
  return { models: [...models].sort(), keys: keys.map(({ id, name }) => ({ id, name })) };
}

async function live(deps: LogApiDeps, visit: MemberRequest, accountId: string | undefined): Promise<Response> {
  const { request, query, who } = visit;
  const filter = { ...filterOf(deps, visit, accountId), sinceMs: undefined };
  const after = afterOf(request, query) ?? (await deps.usage.lastLogId());
  return deps.liveViews.open({
    request,
    accountId: who.account.id,
    follower: new LogFollower(deps, filter, after),
    show: (rows) => logRowViews(deps, rows, { named: accountId === undefined }),
    isSignedIn: () => deps.isSignedIn(request),
  });
}

/** The messages of a request whose key was being debugged. */
async function wireOf(
  deps: LogApiDeps,
  { params }: MemberRequest,
  accountId: string | undefined,
): Promise<Listing<WireView>> {
  const id = /^[1-9]\d{0,14}$/.test(params["id"] ?? "") ? Number(params["id"]) : 0;
  const row = await deps.usage.findLogRow(id, accountId);
  const records = row === undefined ? [] : await deps.keyDebug.listDebugRecords(row.keyId, row.requestId);
  return { data: records.map((record) => JSON.parse(record) as WireView) };
}

async function exported(deps: LogApiDeps, visit: MemberRequest, accountId: string | undefined): Promise<Response> {
  const format = visit.query.get("format") ?? "csv";
  if (!Object.hasOwn(EXPORT_FORMATS, format))
    throw new ApiError("invalid_request", "format: expected csv or json.", { param: "format" });
  const filter = filterOf(deps, visit, accountId);
  return exportResponse(format as ExportFormat, async (beforeId, limit) => {
    const { rows, nextBeforeId } = await deps.usage.listLog(filter, {
      limit,
      ...(beforeId === undefined ? {} : { beforeId }),
    });
    return { rows: await logRowViews(deps, rows, { named: accountId === undefined }), nextBeforeId };
  });
}
