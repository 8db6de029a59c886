// Asks any chat model to write down the probability of each option. This is the model's opinion of its own certainty and not the
// probability of its output, so such versions are uncalibrated until they are fitted.

import { isRecord } from "../../base/json-object.ts";
import { repairJson } from "../../base/json-repair.ts";
import type { Usage } from "../../chat/event.ts";
import type { ChatRequest, ResponseFormat } from "../../chat/request.ts";
import type { ChatResult } from "../../chat/result.ts";
import type { Observation } from "../calibration/calibration.ts";
import type { Question } from "../questions.ts";
import {
  type ChatCallResult,
  type DecisionBackend,
  type DecisionRoute,
  inParallel,
  NonsenseAnswer,
  outputOf,
  totalUsage,
} from "./backend.ts";
import { ordersOf, sorted } from "./orders.ts";
import { estimatePrompt } from "./prompt.ts";

/** The smallest probability, also for options that the model omits or calls impossible. */
const FLOOR = 1e-4;
/** If the numbers have a larger sum, they are percentages: no model is that wrong about probabilities. */
const PERCENT_MIN = 1.5;
/**
 * Output tokens for the JSON, for the label and number of each option, and for reasoning before it if the model cannot turn that
 * off.
 */
const TOKENS_BASE = 1024;
const TOKENS_EACH = 12;

export const verbalized: DecisionBackend = {
  kind: "verbalized",
  asText: true,
  remark: "These are probabilities that a model wrote down, not those of its output.",
  async answer({ state, questions, spec }, upstream) {
    const usage: (Usage | undefined)[] = [];
    let last: ChatCallResult | undefined;
    const asked = questions.map(sorted);
    const looks = asked.flatMap(({ question }) => {
      const all = Array.from({ length: question.options.length }, (_, option) => option);
      const orders = ordersOf(all, { type: question.type, count: spec.orders, revision: spec.revision });
      return orders.map((order) => ({ question, order }));
    });
    const read = await inParallel(
      looks.map(({ question, order }) => async (): Promise<{ question: Question; reading: Observation }> => {
        const messages = estimatePrompt({ state, question, order });
        const probabilities = await upstream.chat(
          (route) => estimateRequest(route, messages, order.length),
          (answer) => {
            last = answer;
            usage.push(answer.result.usage);
            return estimatesOf(answer.result, order.length, question.key);
          },
        );
        return { question, reading: { order, logProbabilities: probabilities.map(Math.log), labelled: true } };
      }),
      spec.concurrency,
    );
    const answer = last!;
    return {
      readings: asked.map(({ question, restore }) =>
        restore(read.filter((one) => one.question === question).map((one) => one.reading)),
      ),
      route: answer.route,
      outputTokens: outputOf(usage),
      spent: totalUsage(usage),
      ...(answer.result.upstreamModel === undefined ? {} : { upstreamModel: answer.result.upstreamModel }),
    };
  },
};

function estimateRequest(route: DecisionRoute, messages: ChatRequest["messages"], count: number): ChatRequest {
  return {
    model: route.model,
    messages,
    stream: false,
    includeUsage: false,
    tools: [],
    maxTokens: TOKENS_BASE + TOKENS_EACH * count,
    temperature: 0,
    responseFormat: formatOf(count),
    extra: {},
  };
}

function formatOf(count: number): ResponseFormat {
  const labels = Array.from({ length: count }, (_, at) => String(at + 1));
  return {
    type: "json_schema",
    name: "probabilities",
    strict: true,
    schema: {
      type: "object",
      properties: Object.fromEntries(labels.map((label) => [label, { type: "number" }])),
      required: labels,
      additionalProperties: false,
    },
  };
}

/** The probabilities by position, which sum to 1. Throws `NonsenseAnswer`. */
function estimatesOf(result: ChatResult, count: number, key: string): number[] {
  const text = (result.choices[0]?.blocks ?? []).map((block) => (block.type === "text" ? block.text : "")).join("");
  const given = estimatesIn(text);
  if (given === undefined)
    throw new NonsenseAnswer(`Question ${JSON.stringify(key)} was not answered with JSON.`, text);
  // A truncated answer does not show how probable the remaining options are, so it counts as no answer.
  const cutOff = result.choices[0]?.reason === "length";
  if (cutOff && Object.keys(given).length < count) {
    throw new NonsenseAnswer(`The answer to question ${JSON.stringify(key)} was cut off.`, text);
  }
  const said = Array.from({ length: count }, (_, at) => numberOf(given[String(at + 1)]));
  const stated = said.reduce<number>((total, value) => total + (value ?? 0), 0);
  if (!(stated > 0))
    throw new NonsenseAnswer(`Question ${JSON.stringify(key)} was answered without probabilities.`, text);
  // Omitted options share the rest: if the answer is only "0.7 for yes", this is not certainty.
  const whole = stated > PERCENT_MIN ? 100 : 1;
  const left = Math.max(0, whole - stated) / said.filter((value) => value === undefined).length;
  const values = said.map((value) => value ?? left);
  const sum = values.reduce((total, value) => total + value, 0);
  const floored = values.map((value) => Math.max(value / sum, FLOOR));
  const total = floored.reduce((all, value) => all + value, 0);
  return floored.map((value) => value / total);
}

/** Matches reasoning within the text before the answer; the last block may have no end. */
const THOUGHT = /<(think|thinking|reasoning)>[\s\S]*?(?:<\/\1>|$)/g;
/** Texts with more braces than this are not estimates. */
const BRACES_MAX = 200;

/**
 * The estimates in a model's text: the last JSON object that contains an option's label, whatever braces surround it. If no
 * object is complete, the first one is repaired, as in a truncated answer.
 */
function estimatesIn(text: string): Readonly<Record<string, unknown>> | undefined {
  const shown = text.replaceAll(THOUGHT, "");
  const starts = [...shown.matchAll(/\{/g)].slice(-BRACES_MAX).map(({ index }) => index);
  for (const from of starts.reverse()) {
    const whole = objectAt(shown, from);
    if (whole !== undefined && Object.keys(whole).some((name) => LABEL.test(name))) return whole;
  }
  const from = shown.indexOf("{");
  const repaired = from < 0 ? undefined : repairJson(shown.slice(from, shown.lastIndexOf("}") + 1 || undefined));
  const given: unknown = repaired === undefined ? undefined : JSON.parse(repaired);
  return isRecord(given) ? given : undefined;
}

const LABEL = /^\d+$/;

/** The JSON object that begins at this position, up to its closing brace. */
function objectAt(text: string, from: number): Readonly<Record<string, unknown>> | undefined {
  // Estimates are flat, so an object with a nested one is not an estimate.
  const end = text.indexOf("}", from);
  if (end < 0) return undefined;
  try {
    const value: unknown = JSON.parse(text.slice(from, end + 1));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Reads 0.7, "0.7" or "70%"; undefined for other values. */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === "string" ? Number.parseFloat(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? Math.max(0, number) : undefined;
}
