// OpenAI's Decisions format for clients: a list of questions, and a list of answers in the same order. The versions are those of
// `/v1/systemone`. Members that only this format has become text of the question.

import { ApiError } from "../../base/errors.ts";
import { isRecord } from "../../base/json-object.ts";
import {
  badQuestion,
  badRequest,
  type Content,
  type DecisionRequest,
  type InputItems,
  type Option,
  type ParamNames,
  type PromptCacheWishes,
  type Question,
  refuseForeignFields,
} from "../questions.ts";
import { type Answered, meanLevel } from "./answers.ts";
import { argMax, choiceConfidence, scoreConfidence } from "./confidence.ts";

/** What is remembered of a question for the format of its answer. */
interface Asked {
  readonly name: string | null;
  /** The values of a choice, which may be booleans, or the labels of a score. */
  readonly values: readonly (string | boolean)[];
}

/** A parsed request, with what the format of its answer needs. */
export interface OpenaiDecisionRequest extends DecisionRequest {
  readonly asked: readonly Asked[];
}

/** The limit of OpenAI's own endpoint. */
const QUESTIONS_MAX = 400;

/** Reads the body of `POST /v1/decisions`. Throws `ApiError` 400 or 422. */
export function readOpenaiDecisions(body: Readonly<Record<string, unknown>>): OpenaiDecisionRequest {
  refuseForeignFields(body);
  const { model, input, questions } = body;
  if (typeof model !== "string" || model === "") throw badRequest("model", "'model' must be a decision model's id.");
  if (typeof input !== "string" && !Array.isArray(input)) {
    throw badRequest("input", "'input' must be a string or an array of input items.");
  }
  if (!Array.isArray(questions)) throw badRequest("questions", "'questions' must be an array.");
  if (questions.length === 0 || questions.length > QUESTIONS_MAX) {
    throw badQuestion("questions", `A request has 1 to ${QUESTIONS_MAX} questions, not ${questions.length}.`);
  }
  const read = questions.map((value: unknown, at) => readQuestion(value, at));
  return {
    model,
    state: stateOf(input),
    questions: read.map((one) => one.question),
    asked: read.map((one) => one.asked),
    names: namesFor(read.map((one) => one.question)),
    endUser: endUserIn(body),
    promptCache: promptCacheIn(body),
    ...(typeof input === "string" ? {} : { items: itemsOf(input as InputItems) }),
  };
}

/** The limit of OpenAI's own endpoint. */
const END_USER_CHARS_MAX = 64;

function endUserIn({ safety_identifier: name }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof name === "string" && name !== "" && name.length <= END_USER_CHARS_MAX ? name : undefined;
}

function promptCacheIn(body: Readonly<Record<string, unknown>>): PromptCacheWishes | undefined {
  const { prompt_cache_key: key, prompt_cache_options: options } = body;
  if (key == null && options == null) return undefined;
  if (key != null && typeof key !== "string")
    throw badRequest("prompt_cache_key", "'prompt_cache_key' must be a string.");
  if (options != null && !isRecord(options)) {
    throw badRequest("prompt_cache_options", "'prompt_cache_options' must be an object.");
  }
  return {
    ...(key == null ? {} : { prompt_cache_key: key }),
    ...(options == null ? {} : { prompt_cache_options: options }),
  };
}

/** Maps `questions.2.criteria.NAME` to `questions[2].choices[1]`. A question's key is its index. */
function namesFor(questions: readonly Question[]): ParamNames {
  return {
    state: "input",
    of(param) {
      if (param === "state") return "input";
      const [, at = "", rest = ""] = /^questions\.(\d+)(.*)$/s.exec(param) ?? [];
      const question = questions[Number(at)];
      return at === "" || question === undefined ? param : `questions[${at}]${placeIn(question, rest)}`;
    },
  };
}

function placeIn({ type, options }: Question, rest: string): string {
  if (!rest.startsWith(".criteria")) return rest;
  const within = rest.slice(".criteria".length);
  // A predicate has no criteria; its meaning is in its instructions.
  if (type === "noul") return ".instructions";
  if (type === "score") return `.levels${within}`;
  const at = options.findIndex(({ label }) => within === `.${label}`);
  return at < 0 ? ".choices" : `.choices[${at}]`;
}

function readQuestion(value: unknown, at: number): { question: Question; asked: Asked } {
  const path = `questions[${at}]`;
  if (!isRecord(value)) throw badQuestion(path, "A question must be an object.");
  const name = value["name"] ?? null;
  if (name !== null && typeof name !== "string") throw badQuestion(`${path}.name`, "'name' must be a string.");
  const instructions = readInstructions(value["instructions"], `${path}.instructions`);
  const whole = (type: Question["type"], options: readonly Option[], values: readonly (string | boolean)[]) => ({
    question: { key: String(at), ...(name === null ? {} : { name }), type, instructions, options },
    asked: { name, values },
  });
  switch (value["type"]) {
    case "predicate":
      return whole(
        "noul",
        ["true", "false"].map((label) => ({ label, criterion: null })),
        [],
      );
    case "choice": {
      const choices = readList(value["choices"], { path: `${path}.choices`, least: 2, most: 255 });
      const values = choices.map((choice, i) => readValue(choice["value"], `${path}.choices[${i}].value`));
      if (new Set(values).size < values.length) {
        throw badQuestion(`${path}.choices`, "The values of the choices must differ.");
      }
      // A boolean and a text of the same letters are two values, so the texts are quoted then.
      const isClear = new Set(values.map(String)).size === values.length;
      const options = values.map((own, i) => ({
        label: isClear ? String(own) : JSON.stringify(own),
        criterion: textOrNull(choices[i]!["description"]),
      }));
      return whole("choice", options, values);
    }
    case "score": {
      const levels = readList(value["levels"], { path: `${path}.levels`, least: 2, most: 10 });
      const labels = levels.map((level, i) => {
        if (typeof level["label"] === "string" && level["label"] !== "") return level["label"];
        throw badQuestion(`${path}.levels[${i}].label`, "A level needs a 'label'.");
      });
      const options = labels.map((label, i) => {
        const meaning = textOrNull(levels[i]!["description"]);
        return { label: String(i), criterion: meaning === null ? label : `${label}: ${meaning}` };
      });
      return whole("score", options, labels);
    }
    default:
      throw badQuestion(`${path}.type`, "A question's 'type' must be predicate, choice or score.");
  }
}

function readInstructions(value: unknown, path: string): Content {
  if (typeof value === "string" && value.trim() !== "") return value;
  if (Array.isArray(value) && value.length > 0) return joined(value, path);
  throw badQuestion(path, "A question needs 'instructions'.");
}

function readList(value: unknown, { path, least, most }: { path: string; least: number; most: number }) {
  if (!Array.isArray(value) || value.length < least || value.length > most || !value.every(isRecord)) {
    throw badQuestion(path, `Expected ${least} to ${most} objects.`);
  }
  return value as Readonly<Record<string, unknown>>[];
}

function readValue(value: unknown, path: string): string | boolean {
  if ((typeof value === "string" && value !== "") || typeof value === "boolean") return value;
  throw badQuestion(path, "A choice needs a 'value': a string or a boolean.");
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** The input items as a state: a single message becomes its content, several become a conversation. */
function stateOf(input: string | readonly unknown[]): Content {
  if (typeof input === "string") return input;
  const items = input.map((item, at): Content => {
    if (!isRecord(item)) throw badRequest(`input[${at}]`, "An input item must be an object.");
    if (Array.isArray(item["output"])) refuseImages(item["output"], `input[${at}].output`);
    return item["content"] === undefined ? item : contentOf(item["content"], `input[${at}].content`);
  });
  if (items.length === 1) return items[0]!;
  return items.map((content, at) => {
    const { role } = input[at] as Readonly<Record<string, unknown>>;
    return role === undefined ? content : { role, content };
  });
}

/** The members of a message and of its parts that are read here, and so are counted for the limits. */
const MESSAGE_MEMBERS = ["type", "role", "phase"];
const PART_MEMBERS = ["type", "text", "data", "refusal", "prompt_cache_breakpoint"];

/** The items for an upstream of this format: tool calls and outputs as they came, messages without what is unknown here. */
function itemsOf(input: InputItems): InputItems {
  return input.map((item) => {
    const { content } = item;
    if (content === undefined) return item;
    const parts = Array.isArray(content) ? content.map((part) => only(PART_MEMBERS, part)) : content;
    return { role: "user", ...only(MESSAGE_MEMBERS, item), content: parts };
  });
}

function only(names: readonly string[], from: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])));
}

function contentOf(content: unknown, path: string): Content {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw badRequest(path, "Content must be a string or an array of parts.");
  const only: unknown = content[0];
  if (content.length === 1 && isRecord(only) && only["type"] === "input_json" && isData(only["data"]))
    return only["data"];
  return joined(content, path);
}

/** Joins parts to one text. JSON parts become compact JSON. */
function joined(parts: readonly unknown[], path: string): string {
  refuseImages(parts, path);
  return parts
    .map((part, at) => {
      const type = isRecord(part) ? part["type"] : undefined;
      if (isRecord(part) && typeof part["text"] === "string") return part["text"];
      if (isRecord(part) && type === "input_json" && isData(part["data"])) return JSON.stringify(part["data"]);
      if (isRecord(part) && typeof part["refusal"] === "string") return part["refusal"];
      throw badRequest(`${path}[${at}]`, "Expected a text or JSON part.");
    })
    .join("\n");
}

/**
 * Throws 400 for an image. The limits of a decision are counted in tokens of text, and only one of its backends could pass an image
 * on.
 */
function refuseImages(parts: readonly unknown[], path: string): void {
  const at = parts.findIndex((part) => isRecord(part) && part["type"] === "input_image");
  if (at < 0) return;
  const param = `${path}[${at}]`;
  throw new ApiError("image_input_not_supported", "Decision models here read text and JSON, and no images.", { param });
}

function isData(value: unknown): value is Content {
  return typeof value === "object" && value !== null;
}

/** The member `answers` of that format, in the order of the questions. */
export function openaiAnswersView(answered: readonly Answered[], asked: readonly Asked[]): Record<string, unknown>[] {
  return answered.map(({ question, probabilities, refused }, at) => {
    const { name, values } = asked[at]!;
    if (refused) return { type: "refusal", name };
    if (question.type === "noul") return { type: "predicate", name, probability: probabilities[0] };
    if (question.type === "choice") {
      return {
        type: "choice",
        name,
        choice: values[argMax(probabilities)],
        confidence: choiceConfidence(probabilities),
        probabilities: probabilities.map((probability, i) => ({ value: values[i], probability })),
      };
    }
    return {
      type: "score",
      name,
      score: meanLevel(probabilities),
      confidence: scoreConfidence(probabilities),
      probabilities: probabilities.map((probability, value) => ({ value, label: values[value], probability })),
    };
  });
}
