// Answers from one page: from its structured data if that is enough, otherwise from a model, part by part. The model sees nothing
// of other pages, and values without a quote from this page are not taken.

import { isRecord } from "../../base/json-object.ts";
import type { WebModel } from "../../gateway/inner/web-model.ts";
import type { StructuredData } from "../../pages/structured/structured.ts";
import { type AskPartDeps, askPart } from "./ask-part.ts";
import type { AnsweredPage } from "./check-part.ts";
import { estimateTokens } from "./chunks.ts";
import type { StructuredAnswer } from "./from-structured.ts";
import { PARTS_MAX } from "./parts.ts";
import { questionOf, type Wish } from "./prompt.ts";
import { put, type QuoteSource } from "./quotes.ts";

/** A page to read. */
export interface ReadPage {
  readonly url: string;
  readonly markdown: string;
  /** The page's structured data; documents have none. */
  readonly structured?: StructuredData | undefined;
}

/** What answering needs. Without a model, only structured data is used. */
export interface PageAnswerDeps extends Omit<AskPartDeps, "model"> {
  readonly model: WebModel | undefined;
}

/** Maximum number of concurrent model calls for one page. */
const PARALLEL_MAX = 2;
/** Maximum tokens of a part, however large the model's window: models overlook text in the middle of a longer one. */
const PART_TOKENS_MAX = 60_000;
/** Tokens reserved for the answer and two repairs. */
const ANSWERS_TOKENS = 12_000;
const PART_TOKENS_MIN = 500;
/** The share of the window that is used, since tokenisers differ from the estimate. */
const WINDOW_SHARE = 0.9;

/** Answers from one page. Throws `ApiError`. */
export async function answerPage(page: ReadPage, wish: Wish, deps: PageAnswerDeps): Promise<AnsweredPage> {
  const own = await structuredAnswer(page, wish, deps);
  const { model } = deps;
  if (model === undefined) return withoutModel(page.url, own);
  if (own !== undefined && (await isWhole(own, wish, deps))) return withoutModel(page.url, own);
  const asked = await askParts(page, wish, { ...deps, model });
  return own === undefined ? asked : filled(asked, own);
}

async function structuredAnswer(
  { url, structured }: ReadPage,
  { schema }: Wish,
  deps: PageAnswerDeps,
): Promise<StructuredAnswer | undefined> {
  if (schema === null || structured === undefined) return undefined;
  return deps.threads.structured(schema, { url, structured }, deps);
}

/** Whether every requested value is present and valid. */
async function isWhole({ value, missing }: StructuredAnswer, { schema }: Wish, deps: PageAnswerDeps): Promise<boolean> {
  if (missing.length > 0 || schema === null) return false;
  return (await deps.threads.validate(schema, value, deps)).length === 0;
}

function withoutModel(url: string, own: StructuredAnswer | undefined): AnsweredPage {
  if (own === undefined) return { url, value: null, sources: {}, warnings: [] };
  const { value, sources, missing, warnings } = own;
  const left = missing
    .filter((path) => path !== "*")
    .map((path) => `${url}: ${path} is missing in the page's structured data.`);
  return { url, value, sources, warnings: [...warnings, ...left] };
}

/** Fills the fields that the model left empty from structured data. */
function filled(asked: AnsweredPage, own: StructuredAnswer): AnsweredPage {
  if (!isRecord(asked.value) || !isRecord(own.value)) return asked;
  const value: Record<string, unknown> = { ...asked.value };
  const sources: Record<string, readonly QuoteSource[]> = { ...asked.sources };
  for (const [field, found] of Object.entries(own.value)) {
    const known = Object.hasOwn(own.sources, field) ? own.sources[field] : undefined;
    if (found === null || found === undefined || known === undefined) continue;
    if (Object.hasOwn(value, field) && value[field] !== null) continue;
    put(value, field, found);
    put(sources, field, known);
  }
  return { ...asked, value, sources };
}

async function askParts(page: ReadPage, wish: Wish, deps: AskPartDeps): Promise<AnsweredPage> {
  const { url } = page;
  const { system, user } = questionOf(wish, { url, text: "", evidence: "", part: 1, parts: 1 });
  const taken = estimateTokens(system) + estimateTokens(user) + Math.min(ANSWERS_TOKENS, deps.model.contextLength / 2);
  const room = Math.floor(
    Math.max(PART_TOKENS_MIN, Math.min(PART_TOKENS_MAX, deps.model.contextLength * WINDOW_SHARE - taken)),
  );
  const { markdown, structured } = page;
  const { evidence, texts, isCut } = await deps.threads.split({ markdown, structured, room }, deps);
  const warnings = isCut ? [`${url}: the page is very long. Only its first ${PARTS_MAX} parts were read.`] : [];
  const parts = texts.map((text, index) => ({
    url,
    text,
    evidence: index === 0 ? evidence : "",
    part: index + 1,
    parts: texts.length,
  }));
  const answers = (await inParallel(parts, PARALLEL_MAX, (part) => askPart(wish, part, deps))).flat();
  const checked = await Promise.all(answers.map((answer) => deps.threads.check(answer, deps)));
  const merged = await deps.threads.merge(wish.schema, checked, deps);
  const told = [...warnings, ...checked.flatMap((one) => one.warnings), ...merged.warnings];
  return { url, value: merged.value, sources: merged.sources, warnings: [...new Set(told)] };
}

async function inParallel<T, U>(items: readonly T[], most: number, work: (item: T) => Promise<U>): Promise<U[]> {
  const results: U[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  return results;
}
