// Builds the result of an extraction from the answers of its pages. They are merged, and the result is validated against the
// schema once more; fields that no page contains are null.

import { ApiError, type ErrorCode } from "../../base/errors.ts";
import { isRecord } from "../../base/json-object.ts";
import type { WebModel } from "../../gateway/inner/web-model.ts";
import { fieldNames } from "./fields.ts";
import type { ExtractInput } from "./input.ts";
import { put, type Sources } from "./quotes.ts";
import type { ExtractWork } from "./threads.ts";

/** What was found. */
export interface ExtractResult {
  readonly data: unknown;
  /** The sources of each top-level field. */
  readonly sources: Sources;
  /** The fields that are null because no page contains them. */
  readonly unsupported: readonly string[];
  readonly warnings: readonly string[];
  readonly credits: number;
}

/** The outcome of one page as it is stored. */
export type PageOutcome = {
  readonly url: string;
  /** The page's index among the caller's addresses. Linked pages have higher ones. */
  readonly at: number;
  readonly depth: number;
} & (
  | {
      readonly isFailed: false;
      readonly value: unknown;
      readonly sources: Sources;
      readonly warnings: readonly string[];
    }
  | { readonly isFailed: true; readonly code: ErrorCode; readonly message: string }
);

/** What the result depends on beside the pages. */
export interface Ending {
  readonly input: ExtractInput;
  readonly model: WebModel | "none" | undefined;
  readonly credits: number;
  readonly threads: Pick<ExtractWork, "validate" | "merge">;
  readonly accountId: string;
  readonly signal: AbortSignal;
}

const WARNINGS_MAX = 100;
/** How many failed pages an error names. */
const FAILURES_TOLD_MAX = 5;

/**
 * Builds the result. Throws the first page's `ApiError` if no page could be read, and `extract_unavailable` if a model is needed
 * and missing.
 */
export async function resultOf(pages: readonly PageOutcome[], ending: Ending): Promise<ExtractResult> {
  const { schema } = ending.input;
  const failures = pages.flatMap((page) => (page.isFailed ? [page] : []));
  const answers = pages.flatMap((page) => (page.isFailed ? [] : [page]));
  const [first] = failures;
  if (first !== undefined && answers.every(({ depth }) => depth > 0))
    throw new ApiError(first.code, sentenceOf(failures));
  const merged = await ending.threads.merge(schema, answers, ending);
  const complaints = schema === null ? [] : await complaintsOf(merged.value, ending);
  const value =
    isRecord(merged.value) || fieldNames(schema).length > 0 ? withEveryField(merged.value, schema) : merged.value;
  const unsupported = isRecord(value) ? Object.keys(value).filter((field) => value[field] === null) : [];
  requireModel(value, unsupported, ending);
  const warnings = [
    ...failures.map(withUrl),
    ...answers.flatMap((page) => page.warnings),
    ...merged.warnings,
    ...complaints,
  ];
  return {
    data: value,
    sources: merged.sources,
    unsupported,
    warnings: [...new Set(warnings)].slice(0, WARNINGS_MAX),
    credits: ending.credits,
  };
}

function withUrl({ url, message }: { readonly url: string; readonly message: string }): string {
  return `${url}: ${message}`;
}

/** What the caller should know if no page could be read: the failure of each page, as far as there is space. */
function sentenceOf(failures: readonly { readonly url: string; readonly message: string }[]): string {
  const told = failures.slice(0, FAILURES_TOLD_MAX).map(withUrl);
  const left = failures.length - told.length;
  return left === 0 ? told.join(" ") : `${told.join(" ")} ${left} more pages could not be read.`;
}

/** The validation errors of the merged value that come from merging. Nulls are reported in `unsupported` instead. */
async function complaintsOf(value: unknown, { input, threads, accountId, signal }: Ending): Promise<string[]> {
  if (input.schema === null || value === null) return [];
  const found = await threads.validate(input.schema, value, { accountId, signal });
  return found
    .filter(({ path, message }) => !isAbsence(value, path, message))
    .map(({ path, message }) => `${path === "" ? "The answer" : path.slice(1).replaceAll("/", ".")} ${message}.`);
}

/** Whether an error only means that a value is null or missing, which is reported as unsupported. */
function isAbsence(value: unknown, pointer: string, message: string): boolean {
  let at = value;
  for (const step of pointer.split("/").slice(1))
    at =
      isRecord(at) || Array.isArray(at)
        ? (at as Record<string, unknown>)[step.replace(/~1/g, "/").replace(/~0/g, "~")]
        : undefined;
  return at === null || at === undefined || (pointer === "" && /required/.test(message));
}

function withEveryField(value: unknown, schema: ExtractInput["schema"]): Record<string, unknown> {
  const whole: Record<string, unknown> = {};
  const known = isRecord(value) ? value : {};
  for (const field of new Set([...fieldNames(schema), ...Object.keys(known)]))
    put(whole, field, Object.hasOwn(known, field) ? (known[field] ?? null) : null);
  return whole;
}

/** Throws if there is no model and structured data was not enough. */
function requireModel(value: unknown, unsupported: readonly string[], { model, input }: Ending): void {
  if (typeof model === "object") return;
  const all = Array.isArray(value) ? value.length : isRecord(value) ? Object.keys(value).length : 0;
  const found = all - unsupported.length;
  if (model === "none" ? found > 0 : found > 0 && unsupported.length === 0) return;
  throw modelMissing(model, input.schema === null ? [] : unsupported);
}

/** The error of an extraction that needs a model when there is none. */
export function modelMissing(model: "none" | undefined, fields: readonly string[]): ApiError {
  const why =
    model === "none"
      ? "This gateway uses no model for extraction (web.model: none)"
      : "This gateway has no model for extraction that your plan includes";
  const what =
    fields.length === 0
      ? "without one, only the fields of a schema can be found"
      : `the structured data of the pages lack: ${fields.join(", ")}`;
  return new ApiError("extract_unavailable", `${why}, and ${what}.`);
}
