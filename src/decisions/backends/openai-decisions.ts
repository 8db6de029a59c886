// Versions that OpenAI's Decisions endpoint serves. The criteria of a yes/no question become part of its text, since that
// protocol has no field for them. A refusal of one question leaves the answers to the others.

import { ApiError } from "../../base/errors.ts";
import { isRecord } from "../../base/json-object.ts";
import { distinct } from "../api/answers.ts";
import { type Observation, observationOf } from "../calibration/calibration.ts";
import { type Content, type Option, type Question, textOfContent, textOfParts } from "../questions.ts";
import { isFormer } from "../revision.ts";
import {
  type BackendAnswer,
  type DecisionBackend,
  inParallel,
  NonsenseAnswer,
  type PostResult,
  tokensIn,
} from "./backend.ts";
import { batches, refuseUnaskedOptions, soundDistribution, soundProbability } from "./distribution.ts";
import { gather, optionalMember } from "./systemone.ts";

/** The limit of that endpoint; `limits.questions` may lower it. Its limit of 255 options is also this gateway's. */
const QUESTIONS_MAX = 400;

export const openaiDecisions: DecisionBackend = {
  kind: "openai-decisions",
  asText: false,
  calibrationOf: () => "upstream",
  async answer({ state, questions, spec, promptCache, items }, upstream) {
    const input = isFormer(spec) ? formerInputOf(state) : (items ?? inputOf(state));
    const isOwn = input === items;
    const calls = batches(questions, spec.limits["questions"] ?? QUESTIONS_MAX).map((batch) => async () => {
      const body = { ...promptCache, input, questions: batch.map(definitionOf) };
      try {
        return await upstream.post(
          "/decisions",
          ({ model }, _server, endUser) => ({ model, ...body, ...optionalMember("safety_identifier", endUser) }),
          (answer) => readAnswer(batch, answer, spec.revision),
        );
      } catch (error) {
        throw aboutOwn(batch, isOwn, error);
      }
    });
    return gather(await inParallel(calls, spec.concurrency));
  },
};

/**
 * An error about `questions[2].choices[1]` of a call, with the key of the question instead, and the state for the input. Items of
 * the client's own keep their place.
 */
function aboutOwn(batch: readonly Question[], isOwn: boolean, error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const [, inInput] = INPUT_PLACE.exec(error.detail.param ?? "") ?? [];
  if (inInput !== undefined) {
    const param = isOwn && inInput !== "" ? `input${inInput.replace(/^\.(\d+)/, "[$1]")}` : "state";
    return new ApiError(error.apiCode, error.message, { ...error.detail, param });
  }
  const [, at = "", field = "", item] = PLACE.exec(error.detail.param ?? "") ?? [];
  const question = batch[Number(at)];
  if (at === "" || question === undefined) return error;
  const param = `questions.${question.key}${placeIn(question, field, item)}`;
  return new ApiError(error.apiCode, error.message, { ...error.detail, param });
}

const INPUT_PLACE = /^input((?:[[.].*)?)$/s;
const PLACE = /^questions(?:\[|\.)(\d+)\]?(?:\.(\w+))?(?:(?:\[|\.)(\d+)\]?)?/;

function placeIn({ options }: Question, field: string, item: string | undefined): string {
  if (field === "levels") return item === undefined ? ".criteria" : `.criteria[${item}]`;
  if (field !== "choices") return field === "instructions" ? ".instructions" : "";
  const option = options[Number(item)];
  return option === undefined ? ".criteria" : `.criteria.${option.label}`;
}

/** The state as that endpoint takes it: text as text, an object or a list of objects as JSON content. */
function inputOf(state: Content): unknown {
  const isList = Array.isArray(state) && state.length > 0 && textOfParts(state) === undefined;
  return isList && state.every(isRecord) ? jsonInput(state) : formerInputOf(state);
}

/** The previous release sent every list as text. */
function formerInputOf(state: Content): unknown {
  if (typeof state === "string") return state;
  const parts = textOfParts(state);
  if (parts !== undefined) return parts;
  return Array.isArray(state) ? JSON.stringify(state) : jsonInput(state);
}

const jsonInput = (data: Content) => [{ role: "user", content: [{ type: "input_json", data }] }];

function definitionOf({ key, type, instructions, options }: Question): Record<string, unknown> {
  const asked = instructions === undefined ? "" : textOfContent(instructions);
  if (type === "noul") {
    const meanings = options.flatMap(({ label, criterion }) =>
      criterion === null ? [] : [`${label === "true" ? "True" : "False"} means: ${textOfContent(criterion)}`],
    );
    return {
      type: "predicate",
      name: key,
      instructions: [asked === "" ? "Is this true of the input?" : asked, ...meanings].join("\n"),
    };
  }
  if (type === "choice") {
    const values = valuesOf(options);
    const choices = options.map(({ criterion }, at) => ({
      value: values[at],
      ...optionalMember("description", criterion === null ? undefined : textOfContent(criterion)),
    }));
    return { type, name: key, instructions: asked === "" ? "Which option fits the input best?" : asked, choices };
  }
  // Labels may have to be unique there, so levels are identified by their index.
  const levels = options.map(({ label, criterion }) => ({ label, description: textOfContent(criterion ?? "") }));
  return { type, name: key, instructions: asked === "" ? "Which level fits the input best?" : asked, levels };
}

/** The names of the options in that protocol, where none may be empty. */
function valuesOf(options: readonly Option[]): string[] {
  return distinct(options.map(({ label }) => (label === "" ? "(empty)" : label)));
}

function readAnswer(batch: readonly Question[], { body, route }: PostResult, revision: number): BackendAnswer {
  const answers = isRecord(body) ? body["answers"] : undefined;
  if (!isRecord(body) || !Array.isArray(answers) || answers.length !== batch.length) {
    throw new NonsenseAnswer("The upstream's reply does not have an answer for each question.");
  }
  const matched = matching(batch, answers);
  // A refusal is final, and nothing is wrong with the route, so no other one is tried.
  const refused = [...matched.keys()].filter((at) => isRefusal(matched[at]));
  const readings = batch.map((question, at): Observation[] =>
    refused.includes(at) ? [] : [observationOf(probabilitiesOf(question, matched[at], revision), revision)],
  );
  return {
    readings,
    refused,
    route,
    ...tokensIn(body),
    ...optionalMember("upstreamModel", typeof body["model"] === "string" ? body["model"] : undefined),
  };
}

function isRefusal(answer: unknown): boolean {
  return isRecord(answer) && answer["type"] === "refusal";
}

/**
 * The answers in the order of the questions. They are matched by name and may be in any order; the protocol defines that answers
 * without names are in order. Throws `NonsenseAnswer` if the names are not those of the questions.
 */
function matching(batch: readonly Question[], answers: readonly unknown[]): unknown[] {
  const names = answers.map((answer) => (isRecord(answer) ? (answer["name"] ?? null) : null));
  if (names.every((name) => name === null)) return [...answers];
  return batch.map(({ key }) => {
    const at = names.indexOf(key);
    if (at < 0 || names.lastIndexOf(key) !== at) {
      throw new NonsenseAnswer(`Question ${JSON.stringify(key)} has no answer of its name, or several.`);
    }
    return answers[at];
  });
}

const ANSWER_TYPE = { noul: "predicate", choice: "choice", score: "score" } as const;

function probabilitiesOf({ key, type, options }: Question, answer: unknown, revision: number): number[] {
  if (!isRecord(answer) || answer["type"] !== ANSWER_TYPE[type]) {
    const got = isRecord(answer) ? String(answer["type"]) : "nothing";
    throw new NonsenseAnswer(`Question ${JSON.stringify(key)} was answered with ${got}.`);
  }
  if (type === "noul") {
    const p = soundProbability(answer["probability"], key);
    return [p, 1 - p];
  }
  const given = answer["probabilities"];
  if (!Array.isArray(given)) throw new NonsenseAnswer(`Question ${JSON.stringify(key)} has no probabilities.`);
  const byValue = given.map((one: unknown): [string, unknown] =>
    isRecord(one) ? [String(one["value"]), one["probability"]] : ["", undefined],
  );
  const values = type === "choice" ? valuesOf(options) : options.map(({ label }) => label);
  refuseUnaskedOptions(byValue, values, key);
  const found = new Map(byValue);
  if (found.size < byValue.length) throw new NonsenseAnswer(`Question ${JSON.stringify(key)} has an option twice.`);
  return soundDistribution(
    values.map((value) => found.get(value) ?? 0),
    key,
    revision,
  );
}
