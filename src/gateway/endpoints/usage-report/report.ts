// The sums of a span by day, hour, model, key, project or tag, as JSON or as comma-separated values.

import type { Clock } from "../../../base/clock.ts";
import { csvLine } from "../../../base/csv.ts";
import { ApiError } from "../../../base/errors.ts";
import { isoTime } from "../../../base/iso-time.ts";
import { knownCost } from "../../../catalog/known-cost.ts";
import { dayOf, hourOf } from "../../../store/usage/record.ts";
import type { ReportQuery, ReportScope, ReportSums } from "../../../store/usage/report.ts";
import type { UsageStore } from "../../../store/usage/usage.ts";
import type { UsageWriter } from "../../../store/usage/writer.ts";
import { invoiceLines } from "./invoice.ts";

/** What a report needs. */
export interface UsageReportDeps {
  readonly usage: Pick<UsageStore, "sumsBy" | "classesOf">;
  readonly writer: Pick<UsageWriter, "flush">;
  readonly clock: Clock;
}

/** What reports are grouped by. */
const DIMENSIONS = ["day", "hour", "model", "key", "project", "tag", "class"] as const;
type Dimension = (typeof DIMENSIONS)[number];

/** The limit of rows in one answer. */
const REPORT_ROWS_MAX = 10_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Hourly sums are kept a little longer; see `HOURLY_KEPT_MS`. */
const HOURS_KEPT_MS = 14 * DAY_MS;
const DAYS = 30;

/** A span of whole slots. */
interface Span {
  readonly unit: "hour" | "day";
  readonly from: number;
  readonly to: number;
}

/** Answers a request for what was used within a scope. Throws `ApiError` 400. */
export async function answerUsageReport(
  deps: UsageReportDeps,
  request: Request,
  scope: ReportScope,
): Promise<Response> {
  const query = new URL(request.url).searchParams;
  const by = dimensionOf(query.get("by"));
  const span = spanOf(query, by, deps.clock.now());
  if (by === "class") return invoiceAnswer(deps, { request, query, span, scope });
  const model = query.get("model") ?? undefined;
  const key = query.get("key");
  const asked: ReportQuery = {
    ...scope,
    ...{ span, perSlot: by === "day" || by === "hour", limit: REPORT_ROWS_MAX + 1 },
    by: by === "day" || by === "hour" ? undefined : by,
    model,
    keyIds: key === null ? undefined : [key],
  };
  // What was used just now is in the sums too.
  await deps.writer.flush();
  // Before those of the projects: what is written meanwhile would else look as if it had none.
  const all = by === "project" && scope.projectId === undefined ? await sumsOfAll(deps, asked) : undefined;
  const found = await deps.usage.sumsBy(asked);
  const others = all === undefined ? [] : withoutProjects(all, found);
  const data = [...found.slice(0, REPORT_ROWS_MAX), ...others].map((sums) => rowOf(by, span, sums));
  return answerOf(request, { by, span, names: [by, ...SUM_NAMES], data, hasMore: found.length > REPORT_ROWS_MAX });
}

type Line = Readonly<Record<string, string | number | null>>;

function answerOf(
  request: Request,
  report: { by: Dimension; span: Span; names: readonly string[]; data: readonly Line[]; hasMore: boolean },
): Response {
  const { by, span, names, data, hasMore } = report;
  if (/\btext\/csv\b/i.test(request.headers.get("accept") ?? "")) {
    // JSON says that there is more; a file of comma-separated values would look complete.
    if (hasMore) {
      const message = `This report has more than ${REPORT_ROWS_MAX} rows. Ask for a shorter time, or for one model or key.`;
      throw new ApiError("invalid_request", message, { param: "from" });
    }
    const lines = data.map((line) => csvLine(names.map((name) => line[name] ?? null)));
    return new Response(csvLine(names) + lines.join(""), {
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="sallyport-usage-by-${by}.csv"`,
      },
    });
  }
  const slotMs = span.unit === "hour" ? HOUR_MS : DAY_MS;
  const [from, to] = [isoTime(span.from * slotMs), isoTime((span.to + 1) * slotMs)];
  return Response.json({ object: "list", by, from, to, has_more: hasMore, data });
}

const SUM_NAMES = ["requests", "errors", "input_tokens", "output_tokens", "cached_tokens", "cost", "unpriced"];
const INVOICE_NAMES = ["month", "provider", "model", "service", "class", "amount", "unpriced", "cost"];

async function invoiceAnswer(
  { usage, writer }: UsageReportDeps,
  { request, query, span, scope }: { request: Request; query: URLSearchParams; span: Span; scope: ReportScope },
) {
  if (scope.accountId !== undefined || scope.projectId !== undefined) {
    const message = "Invoices are of all accounts together. Only a key of --manage-all sees them.";
    throw new ApiError("permission_denied", message, { param: "by" });
  }
  const other = ["model", "key"].find((name) => query.has(name));
  if (other !== undefined) throw invalid(other, "an invoice ('by=class') is of all models and keys together.");
  await writer.flush();
  const data = (await invoiceLines(usage, span)).map((line) => ({ ...line }));
  return answerOf(request, { by: "class", span, names: INVOICE_NAMES, data, hasMore: false });
}

function rowOf(by: Dimension, { unit }: Span, sums: ReportSums) {
  const start = isoTime(sums.start * (unit === "hour" ? HOUR_MS : DAY_MS));
  const name = sums.name === "" ? null : sums.name;
  return {
    [by]: by === "day" ? start.slice(0, 10) : by === "hour" ? start : name,
    requests: sums.requests,
    errors: sums.errors,
    input_tokens: sums.inputTokens,
    output_tokens: sums.outputTokens,
    cached_tokens: sums.cachedTokens,
    cost: knownCost(sums, false, () => true),
    unpriced: sums.unpriced,
  };
}

async function sumsOfAll({ usage }: UsageReportDeps, asked: ReportQuery): Promise<ReportSums | undefined> {
  return (await usage.sumsBy({ ...asked, by: undefined, limit: 1 }))[0];
}

/** What the requests without a project used: all of it but what those with one did. */
function withoutProjects(all: ReportSums, projects: readonly ReportSums[]): ReportSums[] {
  const rest: Record<string, number | string> = { ...all };
  for (const sums of projects)
    for (const [name, amount] of Object.entries(sums))
      if (typeof amount === "number" && name !== "start") rest[name] = (rest[name] as number) - amount;
  for (const name in rest) if (typeof rest[name] === "number") rest[name] = Math.max(0, rest[name]);
  const others = rest as unknown as ReportSums;
  return others.requests > 0 || others.costMicros > 0 ? [others] : [];
}

function dimensionOf(text: string | null): Dimension {
  const by = DIMENSIONS.find((one) => one === (text ?? "day"));
  if (by !== undefined) return by;
  throw invalid("by", `expected one of ${DIMENSIONS.join(", ")}.`);
}

/** The whole hours or days that were asked for. Days where hours are not kept, or not needed. */
function spanOf(query: URLSearchParams, by: Dimension, nowMs: number): Span {
  const untilMs = timeOf(query, "to", "end") ?? nowMs + 1;
  const usualMs = by === "hour" ? untilMs - DAY_MS : (dayOf(untilMs - 1) - DAYS + 1) * DAY_MS;
  const fromMs = timeOf(query, "from", "start") ?? usualMs;
  if (fromMs >= untilMs) throw invalid("from", "expected a time before 'to'.");
  const isKept = fromMs >= nowMs - HOURS_KEPT_MS - HOUR_MS;
  if (by === "hour" && !isKept) throw invalid("from", "sums by the hour are kept for 14 days.");
  const areDays = fromMs % DAY_MS === 0 && (untilMs % DAY_MS === 0 || untilMs > nowMs);
  if (by === "hour" || (isKept && by !== "day" && by !== "class" && !areDays))
    return { unit: "hour", from: hourOf(fromMs), to: hourOf(untilMs - 1) };
  return { unit: "day", from: dayOf(fromMs), to: dayOf(untilMs - 1) };
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** A time of the query; a day stands for its start or its end. */
function timeOf(query: URLSearchParams, name: string, edge: "start" | "end"): number | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  const timeMs = DAY.test(text) || TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(timeMs) || timeMs < 0)
    throw invalid(name, "expected a day or a time in ISO 8601, such as 2030-12-31 or 2030-12-31T08:00:00Z.");
  return DAY.test(text) && edge === "end" ? timeMs + DAY_MS : timeMs;
}

function invalid(param: string, what: string): ApiError {
  return new ApiError("invalid_request", `Invalid '${param}': ${what}`, { param });
}
