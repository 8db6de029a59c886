// Asks the model about one part of a page until the answer is valid. An answer that is not JSON, lacks a field or has a wrong
// type is sent back with the errors, at most twice. Every answer is stored before it is processed, so that a restarted program
// pays for none twice.

import { ApiError } from "../../base/errors.ts";
import { sha256Hex } from "../../base/ids.ts";
import { isRecord } from "../../base/json-object.ts";
import { pause } from "../../base/retry.ts";
import type { WebModel, WebQuestion } from "../../gateway/inner/web-model.ts";
import type { PartAnswer } from "./check-part.ts";
import { halvesOf } from "./chunks.ts";
import { answerFormat, type PagePart, questionOf, type Wish } from "./prompt.ts";
import { put } from "./quotes.ts";
import { type Reply, readReply } from "./reply.ts";
import type { Complaint, ExtractWork } from "./threads.ts";

/** What calling a model needs. */
export interface AskPartDeps {
  readonly model: WebModel;
  readonly threads: ExtractWork;
  /** The answers stored by an earlier run, and a function that stores one. */
  recall(key: string): string | undefined;
  keep(key: string, answer: string): Promise<void>;
  readonly accountId: string;
  /** Models whose providers refuse a response schema. */
  readonly shapeless: Set<string>;
  readonly signal: AbortSignal;
}

/** How often an answer is sent back to the model. */
const REPAIRS_MAX = 2;
/** Maximum output tokens of one answer. */
const ANSWER_TOKENS = 8192;
/** How often a part is halved if its answer was too long. */
const HALVINGS_MAX = 3;
/** How often a request is repeated while other requests of the same key reserve its budget. */
const BUSY_TRIES_MAX = 20;
const BUSY_WAIT_SECONDS = 2;

/** Asks about one part. Returns several answers if the part had to be halved. Throws `ApiError`. */
export async function askPart(wish: Wish, part: PagePart, deps: AskPartDeps, halvings = 0): Promise<PartAnswer[]> {
  const question = questionOf(wish, part);
  const key = sha256Hex(JSON.stringify([wish, part.url, part.evidence, part.text]));
  const turns: { said: string; reply: string }[] = [];
  for (let attempt = 0; ; attempt++) {
    const asked = {
      ...question,
      turns,
      responseFormat: answerFormat(wish.schema),
      maxTokens: outputTokens(deps.model),
    };
    const inHalves = () => askHalves(wish, part, deps, halvings);
    const answer = await answerOf(asked, `${key} ${attempt}`, deps).catch((error: unknown) => {
      if (isTooLong(error)) return undefined;
      throw error;
    });
    if (answer === undefined) return (await inHalves()) ?? tooLong(part);
    const { text, whole } = answer;
    const reply = readReply(text, wish.schema);
    const halves = whole || typeof reply !== "string" ? undefined : await inHalves();
    if (halves !== undefined) return halves;
    const complaints = typeof reply === "string" ? [] : await complaintsOf(wish, reply, deps);
    if (typeof reply !== "string" && complaints.length === 0)
      return [{ part, reply, warnings: surplusWarnings(part, reply) }];
    if (attempt >= REPAIRS_MAX) return [settled(part, reply, complaints)];
    turns.push({ said: text, reply: repairText(typeof reply === "string" ? [reply] : complaints.map(worded), whole) });
  }
}

/** Asks about both halves of a part; undefined if the part cannot be halved any more. */
async function askHalves(
  wish: Wish,
  part: PagePart,
  deps: AskPartDeps,
  halvings: number,
): Promise<PartAnswer[] | undefined> {
  const halves = halvings >= HALVINGS_MAX ? undefined : halvesOf(part.text);
  const parts = halves?.map((text, index) => ({ ...part, text, evidence: index === 0 ? part.evidence : "" }));
  return parts && (await Promise.all(parts.map((half) => askPart(wish, half, deps, halvings + 1)))).flat();
}

/** Whether the model refused the request as too long: its context window is smaller than the catalog says. */
function isTooLong(error: unknown): boolean {
  return error instanceof ApiError && error.apiCode === "context_length_exceeded";
}

function tooLong({ url }: PagePart): never {
  throw new ApiError("extract_upstream_error", `${url} is too long for the model.`);
}

function outputTokens({ maxOutputTokens }: WebModel): number {
  return Math.min(ANSWER_TOKENS, maxOutputTokens);
}

/** The stored answer, or a new answer of the model, which is then stored. */
async function answerOf(
  question: WebQuestion,
  key: string,
  deps: AskPartDeps,
): Promise<{ text: string; whole: boolean }> {
  const known = deps.recall(key);
  if (known !== undefined) return JSON.parse(known) as { text: string; whole: boolean };
  const { text, whole } = await askPatiently(question, deps);
  await deps.keep(key, JSON.stringify({ text, whole }));
  return { text, whole };
}

/**
 * Asks the model, and waits while other requests reserve the rest of the caller's budget. Throws the caller's own errors and
 * `extract_upstream_error`.
 */
async function askPatiently(question: WebQuestion, deps: AskPartDeps): ReturnType<WebModel["ask"]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await askInShape(question, deps);
    } catch (error) {
      deps.signal.throwIfAborted();
      const isBusy = error instanceof ApiError && error.apiCode === "rate_limit_exceeded";
      if (!isBusy || attempt >= BUSY_TRIES_MAX) throw modelFailure(error);
      await pause((error.detail.retryAfterSeconds ?? BUSY_WAIT_SECONDS) * 1000, deps.signal);
    }
  }
}

/** The model may have refused the response schema. From then on, the schema is only described in the prompt. */
async function askInShape(question: WebQuestion, { model, shapeless, signal }: AskPartDeps) {
  const { responseFormat: _, ...plain } = question;
  if (shapeless.has(model.id)) return model.ask(plain, signal);
  try {
    return await model.ask(question, signal);
  } catch (error) {
    const isRefused = error instanceof ApiError && error.status === 400 && !isTooLong(error);
    if (!isRefused) throw error;
  }
  const said = await model.ask(plain, signal);
  shapeless.add(model.id);
  return said;
}

/** Codes of errors that concern the caller and are passed on. */
const CALLERS_OWN: ReadonlySet<string> = new Set(["budget_exceeded", "rate_limit_exceeded"]);

/** The error to report if a model call fails. The caller handles prompts that are too long. */
function modelFailure(error: unknown): unknown {
  if (error instanceof DOMException && error.name === "TimeoutError")
    return new ApiError("extract_upstream_error", "The model did not answer in time.", { cause: error });
  if (!(error instanceof ApiError) || CALLERS_OWN.has(error.apiCode) || isTooLong(error)) return error;
  return new ApiError("extract_upstream_error", `The model did not answer: ${error.message}`, { cause: error });
}

/** The validation errors of a value. Null is allowed everywhere; it means that the page does not contain the value. */
async function complaintsOf({ schema }: Wish, { value }: Reply, deps: AskPartDeps): Promise<Complaint[]> {
  if (schema === null) return [];
  const all = await deps.threads.validate(schema, value, deps);
  return all.filter(({ path }) => valueAt(value, path) !== null);
}

function valueAt(value: unknown, pointer: string): unknown {
  let at = value;
  for (const step of stepsOf(pointer)) {
    if (typeof at !== "object" || at === null) return undefined;
    at = (at as Record<string, unknown>)[step];
  }
  return at;
}

function stepsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replace(/~1/g, "/").replace(/~0/g, "~"));
}

const worded = ({ path, message }: Complaint) => `value${path.replaceAll("/", ".")} ${message}`;

function repairText(problems: readonly string[], whole: boolean): string {
  return [
    "Your answer cannot be used:",
    ...problems.map((problem) => `- ${problem}`),
    ...(whole ? [] : ["- It was cut off because it was too long. Keep quotes short."]),
    "Give the whole JSON object again, mended. What the page does not say is null.",
  ].join("\n");
}

/** The last answer without its invalid fields. Throws if no usable field is left. */
function settled(part: PagePart, reply: Reply | string, complaints: readonly Complaint[]): PartAnswer {
  if (typeof reply === "string")
    throw new ApiError("extract_upstream_error", `The model's answer could not be used: ${reply}`);
  const missing = (path: string) => complaints.filter((complaint) => complaint.path === path).map(worded);
  const wrong = new Set(complaints.flatMap(({ path }) => stepsOf(path).slice(0, 1)));
  const { value } = reply;
  if (!isRecord(value)) throw new ApiError("extract_upstream_error", notByTheSchema(complaints));
  const kept: Record<string, unknown> = {};
  for (const [field, one] of Object.entries(value)) put(kept, field, wrong.has(field) ? null : one);
  const isLost = Object.values(kept).every((one) => one === null);
  if (isLost && wrong.size > 0) throw new ApiError("extract_upstream_error", notByTheSchema(complaints));
  const warnings = [
    ...[...wrong].map((field) => `${field}: the model's answer about ${part.url} does not match the schema.`),
    ...missing("").map((text) => `${part.url}: ${text}.`),
  ];
  return { part, reply: { ...reply, value: kept }, warnings: [...warnings, ...surplusWarnings(part, reply)] };
}

function notByTheSchema(complaints: readonly Complaint[]): string {
  return `The model's answer does not match the schema: ${complaints.slice(0, 3).map(worded).join("; ")}.`;
}

function surplusWarnings({ url }: PagePart, { surplus }: Reply): string[] {
  return surplus.map(
    (field) => `${field}: the model returned it for ${url}, but the schema has no such field. It was left out.`,
  );
}
