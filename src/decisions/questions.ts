// Reads a decision request (docs/reference/http-api.md#post-v1systemone). Invalid input is refused with the path of the field:
// 400 for the request itself, 422 `invalid_question` for the definition of a question. Unknown fields are ignored.

import { ApiError } from "../base/errors.ts";
import { isRecord } from "../base/json-object.ts";

/** Text, or JSON, which is sent on unchanged and shown to text models as compact JSON. */
export type Content = string | readonly unknown[] | Readonly<Record<string, unknown>>;

/** One possible answer with its meaning: the name of a choice, the index of a level, or true and false. */
export interface Option {
  readonly label: string;
  readonly criterion: Content | null;
}

export type QuestionType = "noul" | "choice" | "score";

/** A question in one form for all types. Probabilities are in the order of `options`. */
export interface Question {
  readonly key: string;
  /** The client's name for the question, if that is not its key. */
  readonly name?: string | undefined;
  readonly type: QuestionType;
  readonly instructions: Content | undefined;
  /** For noul: true, then false. For choice: as given. For score: lowest first, with the labels "0", "1" and so on. */
  readonly options: readonly Option[];
}

/** A valid decision request. */
export interface DecisionRequest {
  readonly model: string;
  readonly state: Content;
  readonly questions: readonly Question[];
  readonly names: ParamNames;
  /** The client's own name of its user, for the provider. */
  readonly endUser?: string | undefined;
  readonly promptCache?: PromptCacheWishes | undefined;
  readonly items?: InputItems | undefined;
}

/** The state as the input items of OpenAI's format, for an upstream of that format. */
export type InputItems = readonly Readonly<Record<string, unknown>>[];

/** The members of OpenAI's format for its prompt cache, by their names there. */
export type PromptCacheWishes = Readonly<Partial<Record<"prompt_cache_key" | "prompt_cache_options", unknown>>>;

/** The names of parameters in the client's format, for errors. */
export interface ParamNames {
  readonly state: string;
  /** The path `questions.KEY…` or `state` in that format. */
  of(param: string): string;
}

/** The names of the public format, which are also TypeSafe's and the internal ones. */
const OWN_NAMES: ParamNames = { state: "state", of: (param) => param };

/** Documented at docs/reference/http-api.md#post-v1systemone. */
const OPTIONS_MAX = 255;
const LEVELS_MIN = 2;
const LEVELS_MAX = 10;

/** The specification has no limit, but a question may have only one token, and each may need several upstream calls. */
const QUESTIONS_MAX = 2000;

/** Parameters of other endpoints, which are refused (no streaming, tools, system prompt or threads). */
const REFUSED = ["stream", "tools", "system", "thread_id", "conversation_id"];

export interface ReadOptions {
  /** Whether a yes/no question may have criteria without instructions, as in TypeSafe's own API. */
  readonly criteriaMayAsk?: boolean;
}

/** Reads the body of `POST /v1/systemone`. Throws `ApiError` 400 or 422. */
export function readDecisionRequest(
  body: Readonly<Record<string, unknown>>,
  options: ReadOptions = {},
): DecisionRequest {
  refuseForeignFields(body);
  const { model, state, questions } = body;
  if (typeof model !== "string" || model === "") throw badRequest("model", "'model' must be a decision model's id.");
  if (!isContent(state)) throw badRequest("state", "'state' must be a string, an object or an array.");
  if (!isRecord(questions)) throw badRequest("questions", "'questions' must be an object of questions by key.");
  const entries = Object.entries(questions);
  if (entries.length === 0) throw badQuestion("questions", "At least one question is needed.");
  if (entries.length > QUESTIONS_MAX) {
    throw badQuestion("questions", `A request has at most ${QUESTIONS_MAX} questions, not ${entries.length}.`);
  }
  const read = entries.map(([key, value]) => readQuestion(key, value, options));
  return { model, state, questions: read, names: OWN_NAMES };
}

/** Throws 400 for parameters of other endpoints. */
export function refuseForeignFields(body: Readonly<Record<string, unknown>>): void {
  for (const name of REFUSED) {
    if (Object.hasOwn(body, name)) throw badRequest(name, `'${name}' is not accepted by the decision API.`);
  }
}

function readQuestion(key: string, value: unknown, options: ReadOptions): Question {
  const path = `questions.${key}`;
  if (key === "") throw badQuestion("questions", "A question's key must not be empty.");
  if (!isRecord(value)) throw badQuestion(path, "A question must be an object.");
  const instructions = readInstructions(value["instructions"], path);
  const criteria = value["criteria"] ?? undefined;
  switch (value["type"]) {
    case "noul":
      return { key, type: "noul", instructions, options: readNoul(criteria, path, { instructions, ...options }) };
    case "choice":
      return { key, type: "choice", instructions, options: readChoice(criteria, `${path}.criteria`) };
    case "score":
      return { key, type: "score", instructions, options: readScore(criteria, `${path}.criteria`) };
    default:
      throw badQuestion(`${path}.type`, "A question's 'type' must be noul, choice or score.");
  }
}

function readInstructions(value: unknown, path: string): Content | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isContent(value)) throw badQuestion(`${path}.instructions`, "'instructions' must be a string, object or array.");
  return value;
}

/** Whether there are instructions that are not blank. */
function isSaid(content: Content | undefined): boolean {
  return content !== undefined && (typeof content !== "string" || content.trim() !== "");
}

function readNoul(
  criteria: unknown,
  path: string,
  { instructions, criteriaMayAsk = false }: ReadOptions & { instructions: Content | undefined },
): Option[] {
  if (criteria !== undefined && !isRecord(criteria)) {
    throw badQuestion(`${path}.criteria`, "The criteria of a noul question must be an object with 'true' and 'false'.");
  }
  const other = Object.keys(criteria ?? {}).find((label) => label !== "true" && label !== "false");
  if (other !== undefined) {
    throw badQuestion(`${path}.criteria.${other}`, "The criteria of a noul question are named 'true' and 'false'.");
  }
  const options = ["true", "false"].map((label) => {
    const criterion = criteria !== undefined && Object.hasOwn(criteria, label) ? criteria[label] : null;
    return { label, criterion: readCriterion(criterion, `${path}.criteria.${label}`) };
  });
  const asks = criteriaMayAsk && options.some(({ criterion }) => isSaid(criterion ?? undefined));
  if (!isSaid(instructions) && !asks) {
    throw badQuestion(`${path}.instructions`, "A noul question needs 'instructions'.");
  }
  return options;
}

function readChoice(criteria: unknown, path: string): Option[] {
  if (!isRecord(criteria)) throw badQuestion(path, "A choice needs 'criteria': an object of options.");
  const entries = Object.entries(criteria);
  if (entries.length === 0 || entries.length > OPTIONS_MAX) {
    throw badQuestion(path, `A choice has 1 to ${OPTIONS_MAX} options, not ${entries.length}.`);
  }
  return entries.map(([label, value]) => ({ label, criterion: readCriterion(value, `${path}.${label}`) }));
}

function readScore(criteria: unknown, path: string): Option[] {
  if (!Array.isArray(criteria)) throw badQuestion(path, "A score needs 'criteria': an array of levels, lowest first.");
  if (criteria.length < LEVELS_MIN || criteria.length > LEVELS_MAX) {
    throw badQuestion(path, `A score has ${LEVELS_MIN} to ${LEVELS_MAX} levels, not ${criteria.length}.`);
  }
  return criteria.map((value: unknown, index) => {
    const criterion = readCriterion(value, `${path}[${index}]`);
    if (criterion === null) throw badQuestion(`${path}[${index}]`, "A level must be described.");
    return { label: String(index), criterion };
  });
}

function readCriterion(value: unknown, path: string): Content | null {
  if (value === null || value === undefined) return null;
  if (!isContent(value)) throw badQuestion(path, "A criterion must be a string, an object, an array or null.");
  return value;
}

/** Keys and names of options are the caller's and may be of any length; an error does not repeat long ones. */
const PARAM_CHARACTERS_MAX = 1000;

/** The error 422 with the path of the field. */
export function badQuestion(path: string, message: string): ApiError {
  const param = path.length > PARAM_CHARACTERS_MAX ? `${path.slice(0, PARAM_CHARACTERS_MAX)}…` : path;
  return new ApiError("invalid_question", message, { param });
}

/** The error 400 with the path of the field. */
export function badRequest(param: string, message: string): ApiError {
  return new ApiError("invalid_request", message, { param });
}

function isContent(value: unknown): value is Content {
  return typeof value === "string" || (typeof value === "object" && value !== null);
}

/** Content as text models see it: text unchanged, text parts joined, all else as compact JSON. */
export function textOfContent(content: Content): string {
  if (typeof content === "string") return content;
  return textOfParts(content) ?? JSON.stringify(content);
}

/** The text of an array of `{type:"text",text}` parts; undefined for other content. */
export function textOfParts(content: Content): string | undefined {
  if (!Array.isArray(content) || content.length === 0) return undefined;
  const texts: string[] = [];
  for (const part of content as readonly unknown[]) {
    if (!isRecord(part) || part["type"] !== "text" || typeof part["text"] !== "string") return undefined;
    texts.push(part["text"]);
  }
  return texts.join("\n");
}
