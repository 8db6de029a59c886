// Versions served by OpenAI's Decisions endpoint. A yes/no question's criteria become part of its text, since that protocol
// has no place for them; a refusal is no answer, and one unanswered question fails the request.

import { ApiError } from "../../base/errors.ts";
import { type Reading, readingOf } from "../calibration.ts";
import { type Content, isRecord, type Question, textOf, textOfParts } from "../questions.ts";
import { type BackendAnswer, type DecisionBackend, inParallel, NonsenseAnswer, type PostResult } from "./backend.ts";
import { batches, soundDistribution, soundProbability } from "./distribution.ts";
import { gather, optional, tokensOf } from "./systemone.ts";

/** That endpoint's own bound; `limits.questions` may lower it. Its 255 options are what a request may have anyway. */
const QUESTIONS_MAX = 400;

export const openaiDecisions: DecisionBackend = {
  kind: "openai-decisions",
  async answer({ state, questions, spec }, upstream) {
    const input = inputOf(state);
    const calls = batches(questions, spec.limits["questions"] ?? QUESTIONS_MAX).map((batch) => async () => {
      const body = { input, questions: batch.map(definitionOf) };
      try {
        return { batch, answer: await upstream.post("/decisions", ({ model }) => ({ model, ...body })) };
      } catch (error) {
        throw aboutOwn(batch, error);
      }
    });
    const answered = await inParallel(calls, spec.concurrency);
    return gather(answered.map(({ batch, answer }) => readAnswer(batch, answer)));
  },
};

/** An error about `questions[2].choices[1]` of a call, naming the question by its key. */
function aboutOwn(batch: readonly Question[], error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const [, at = "", field = "", item] = PLACE.exec(error.detail.param ?? "") ?? [];
  const question = batch[Number(at)];
  if (at === "" || question === undefined) return error;
  const param = `questions.${question.key}${placeIn(question, field, item)}`;
  return new ApiError(error.apiCode, error.message, { ...error.detail, param });
}

const PLACE = /^questions(?:\[|\.)(\d+)\]?(?:\.(\w+))?(?:(?:\[|\.)(\d+)\]?)?/;

function placeIn({ options }: Question, field: string, item: string | undefined): string {
  if (field === "levels") return item === undefined ? ".criteria" : `.criteria[${item}]`;
  if (field !== "choices") return field === "instructions" ? ".instructions" : "";
  const option = options[Number(item)];
  return option === undefined ? ".criteria" : `.criteria.${option.label}`;
}

/** Text goes up as text, an object as JSON content. */
function inputOf(state: Content): unknown {
  if (typeof state === "string") return state;
  const parts = textOfParts(state);
  if (parts !== undefined) return parts;
  if (Array.isArray(state)) return JSON.stringify(state);
  return [{ role: "user", content: [{ type: "input_json", data: state }] }];
}

function definitionOf({ key, type, instructions, options }: Question): Record<string, unknown> {
  const asked = instructions === undefined ? "" : textOf(instructions);
  if (type === "noul") {
    const meanings = options.flatMap(({ label, criterion }) =>
      criterion === null ? [] : [`${label === "true" ? "True" : "False"} means: ${textOf(criterion)}`],
    );
    return {
      type: "predicate",
      name: key,
      instructions: [asked === "" ? "Is this true of the input?" : asked, ...meanings].join("\n"),
    };
  }
  if (type === "choice") {
    const choices = options.map(({ label, criterion }) => ({
      value: label,
      ...optional("description", criterion === null ? undefined : textOf(criterion)),
    }));
    return { type, name: key, instructions: asked === "" ? "Which option fits the input best?" : asked, choices };
  }
  // A label may be asked to be unique there, so levels are known by their number.
  const levels = options.map(({ label, criterion }) => ({ label, description: textOf(criterion ?? "") }));
  return { type, name: key, instructions: asked === "" ? "Which level fits the input best?" : asked, levels };
}

function readAnswer(batch: readonly Question[], { body, route }: PostResult): BackendAnswer {
  const answers = isRecord(body) ? body["answers"] : undefined;
  if (!isRecord(body) || !Array.isArray(answers) || answers.length !== batch.length) {
    throw new NonsenseAnswer("The upstream's reply does not have an answer for each question.");
  }
  const readings = batch.map((question, at): Reading[] => [readingOf(probabilitiesOf(question, answers[at]))]);
  const usage = isRecord(body["usage"]) ? body["usage"] : {};
  return {
    readings,
    route,
    outputTokens: tokensOf(usage["output_tokens"]) ?? 0,
    ...optional("inputTokens", tokensOf(usage["input_tokens"])),
    ...optional("upstreamModel", typeof body["model"] === "string" ? body["model"] : undefined),
  };
}

const ANSWER_TYPE = { noul: "predicate", choice: "choice", score: "score" } as const;

function probabilitiesOf({ key, type, options }: Question, answer: unknown): number[] {
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
  const byValue = new Map<string, unknown>(
    given.flatMap((one: unknown) => (isRecord(one) ? [[String(one["value"]), one["probability"]]] : [])),
  );
  return soundDistribution(
    options.map(({ label }) => byValue.get(label) ?? 0),
    key,
  );
}
