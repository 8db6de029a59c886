// The usage page: sums of an account, or for operators of all accounts, by one dimension, as JSON or as comma-separated values.

import { ApiError } from "../../base/errors.ts";
import { answerUsageReport, type UsageReportDeps } from "../../gateway/endpoints/usage-report/report.ts";
import type { KeyNames } from "../../store/usage/log.ts";
import type { ReportScope } from "../../store/usage/report.ts";
import type { UsageStore } from "../../store/usage/usage.ts";
import {
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageReportRow,
  type UsageReportSums,
  type UsageReportView,
} from "../contract-usage.ts";
import { admin, type DashboardRequest, type Endpoint, member } from "./endpoint.ts";
import type { ProjectsApiDeps } from "./projects-api.ts";

/** What the endpoints need. */
export interface UsageApiDeps extends UsageReportDeps, Pick<ProjectsApiDeps, "projectDeps"> {
  readonly usage: UsageReportDeps["usage"] & Pick<UsageStore, "namesOfKeys">;
}

/** The number of groups that are shown with their names; the others are shown with their ids. */
const NAMED_MAX = 500;
const MICROS_PER_USD = 1_000_000;

/** The endpoints of the usage page. */
export function usageApi(deps: UsageApiDeps): Endpoint[] {
  return [
    member("GET", "/usage-report", (visit) => report(deps, visit, { accountId: visit.who.account.id })),
    admin("GET", "/admin/usage-report", (visit) => report(deps, visit, {})),
  ];
}

/** A line of the report of the HTTP API. */
type ReportLine = Readonly<Record<string, string | null>> & Omit<UsageReportSums, "cost_usd"> & { cost: number | null };

interface ReportAnswer {
  readonly from: string;
  readonly to: string;
  readonly has_more: boolean;
  readonly data: readonly ReportLine[];
}

async function report(deps: UsageApiDeps, { request, query }: DashboardRequest, scope: ReportScope) {
  const by = dimensionOf(query.get("by") ?? "day");
  if (query.get("format") === "csv") return answerUsageReport(deps, asking(request, by, "text/csv"), scope);
  const read = async (dimension: UsageDimension) =>
    (
      await answerUsageReport(deps, asking(request, dimension, "application/json"), scope)
    ).json() as Promise<ReportAnswer>;
  const { from, to, has_more, data } = await read(by);
  // A request with several tags is in the sums of each, and one without in none.
  const counted = by === "tag" || has_more ? (await read("model")).data : data;
  const namesOf = await namesFor(deps, by, scope, data);
  const rows = data.map((line): UsageReportRow => {
    const id = line[by] ?? null;
    return { id, ...namesOf(id), ...sumsOf([line]) };
  });
  return { by, from, to, has_more, total: sumsOf(counted), rows } satisfies UsageReportView;
}

/** The same question to the report of the HTTP API, which chooses its format by a header that links cannot send. */
function asking(request: Request, by: UsageDimension, accept: string): Request {
  const url = new URL(request.url);
  url.searchParams.set("by", by);
  return new Request(url, { headers: { accept } });
}

function sumsOf(lines: readonly ReportLine[]): UsageReportSums {
  const sum = (of: (line: ReportLine) => number) => lines.reduce((all, line) => all + of(line), 0);
  const micros = sum(({ cost }) => Math.round((cost ?? 0) * MICROS_PER_USD));
  const unpriced = sum((line) => line.unpriced);
  return {
    requests: sum((line) => line.requests),
    errors: sum((line) => line.errors),
    input_tokens: sum((line) => line.input_tokens),
    output_tokens: sum((line) => line.output_tokens),
    cached_tokens: sum((line) => line.cached_tokens),
    cost_usd: micros === 0 && unpriced > 0 ? null : micros / MICROS_PER_USD,
    unpriced,
  };
}

type Names = (id: string | null) => Pick<UsageReportRow, "name" | "account">;

async function namesFor(
  { usage, projectDeps }: UsageApiDeps,
  by: UsageDimension,
  { accountId }: ReportScope,
  lines: readonly ReportLine[],
): Promise<Names> {
  const none = { name: "", account: "" };
  const ids = lines.flatMap((line) => line[by] ?? []).slice(0, NAMED_MAX);
  if (by === "key") {
    const keys: ReadonlyMap<string, KeyNames> = await usage.namesOfKeys(ids);
    return (id) => {
      const key = keys.get(id ?? "");
      return key === undefined ? none : { name: key.name, account: accountId === undefined ? key.username : "" };
    };
  }
  if (by !== "project") return () => none;
  const projects = projectDeps.projects();
  const found =
    accountId === undefined
      ? await Promise.all(ids.map((id) => projects.findProject(id)))
      : await projects.listOwnProjects(accountId);
  const names = new Map(found.flatMap((one) => (one === undefined ? [] : [[one.id, one.name] as const])));
  return (id) => ({ ...none, name: names.get(id ?? "") ?? "" });
}

function dimensionOf(text: string): UsageDimension {
  const by = USAGE_DIMENSIONS.find((one) => one === text);
  if (by !== undefined) return by;
  throw new ApiError("invalid_request", `by: expected one of ${USAGE_DIMENSIONS.join(", ")}.`, { param: "by" });
}
