// Any chat model, asked to write down how probable each option is. What a model writes is an opinion of its own certainty,
// not a probability it acts on: such versions are uncalibrated until they are fitted.

import { isRecord } from "../../base/json-object.ts";
import type { Usage } from "../../chat/event.ts";
import { repairJson } from "../../chat/repair.ts";
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

/** What a model leaves out or calls impossible is at least this probable. */
const FLOOR = 1e-4;
/** Numbers that sum to more are percent: no one is so wrong about probabilities. */
const PERCENT_MIN = 1.5;
/** Room for the JSON, a label and a number for each option, and for a thought before it where a model cannot but think. */
const TOKENS_BASE = 1024;
const TOKENS_EACH = 12;

export const verbalized: DecisionBackend = {
  kind: "verbalized",
  asText: true,
  remark: "These are probabilities a model wrote down, not ones it acts on.",
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

/** Probabilities by position, summing to 1. Throws `NonsenseAnswer`. */
function estimatesOf(result: ChatResult, count: number, key: string): number[] {
  const text = (result.choices[0]?.blocks ?? []).map((block) => (block.type === "text" ? block.text : "")).join("");
  const given = estimatesIn(text);
  if (given === undefined) throw new NonsenseAnswer(`Question ${JSON.stringify(key)} was not answered with JSON.`);
  // Repaired where it was cut off, it says nothing of the options it did not come to: a missing answer, not a small
  // one.
  const cutOff = result.choices[0]?.reason === "length";
  if (cutOff && Object.keys(given).length < count) {
    throw new NonsenseAnswer(`The answer to question ${JSON.stringify(key)} was cut off.`);
  }
  const said = Array.from({ length: count }, (_, at) => numberOf(given[String(at + 1)]));
  const stated = said.reduce<number>((total, value) => total + (value ?? 0), 0);
  if (!(stated > 0)) throw new NonsenseAnswer(`Question ${JSON.stringify(key)} was answered without probabilities.`);
  // Options it says nothing of share what is left: "0.7 for yes" alone is not certainty.
  const whole = stated > PERCENT_MIN ? 100 : 1;
  const left = Math.max(0, whole - stated) / said.filter((value) => value === undefined).length;
  const values = said.map((value) => value ?? left);
  const sum = values.reduce((total, value) => total + value, 0);
  const floored = values.map((value) => Math.max(value / sum, FLOOR));
  const total = floored.reduce((all, value) => all + value, 0);
  return floored.map((value) => value / total);
}

/** What a model thinks aloud before it answers; a last thought may lack its end. */
const THOUGHT = /<(think|thinking|reasoning)>[\s\S]*?(?:<\/\1>|$)/g;
/** Texts with more braces than this are no estimate. */
const BRACES_MAX = 200;

/**
 * The estimates in a model's text: the last JSON object that has the label of an option, whatever braces surround it.
 * If none is complete, the first is repaired, as for an answer that was cut off.
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

/** The JSON object that begins there, to the brace that closes it. */
function objectAt(text: string, from: number): Readonly<Record<string, unknown>> | undefined {
  // An estimate is flat: what is nested is none.
  const end = text.indexOf("}", from);
  if (end < 0) return undefined;
  try {
    const value: unknown = JSON.parse(text.slice(from, end + 1));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** 0.7, "0.7" or "70%"; undefined for everything else. */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === "string" ? Number.parseFloat(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? Math.max(0, number) : undefined;
}
