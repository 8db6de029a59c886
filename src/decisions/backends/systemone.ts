// Versions that an upstream of the same format serves: TypeSafe, llama.cpp, Ollama, vLLM's router and others. Questions are sent
// unchanged, in several calls if there are more than the upstream's limit.

import { isRecord } from "../../base/json-object.ts";
import { distinct } from "../api/answers.ts";
import { type Observation, observationOf } from "../calibration/calibration.ts";
import { type Content, type Question, textOfContent, textOfParts } from "../questions.ts";
import {
  type BackendAnswer,
  type DecisionBackend,
  inParallel,
  NonsenseAnswer,
  type PostResult,
  tokensIn,
  tokensOf,
} from "./backend.ts";
import { batches, refuseUnaskedOptions, soundDistribution, soundProbability } from "./distribution.ts";
import { ASKED } from "./prompt.ts";

/** Its limit is `questions`, the number of questions in one call. */
export const systemone: DecisionBackend = {
  kind: "systemone",
  asText: false,
  calibrationOf: () => "upstream",
  async answer({ state, questions, spec }, upstream) {
    const { questions: perCall = questions.length } = spec.limits;
    const shown = textOfParts(state) ?? state;
    const calls = batches(questions, perCall).map(
      (batch) => () =>
        upstream.post(
          "/systemone",
          (route, server) => {
            const define = server.textOnly ? (question: Question) => definitionOf(asText(question)) : definitionOf;
            const defined = batch.map((question) => [question.key, define(question)]);
            return { model: route.model, state: shown, questions: Object.fromEntries(defined) };
          },
          (answer) => readAnswer(batch, answer, spec.revision),
        ),
    );
    return gather(await inParallel(calls, spec.concurrency));
  },
};

/** The question for servers that only accept text and always require instructions. */
function asText({ key, type, instructions, options }: Question): Question {
  const said = instructions === undefined ? "" : textOfContent(instructions).trim();
  return {
    ...{ key, type, instructions: said === "" ? ASKED[type] : said },
    options: options.map(({ label, criterion }) => ({
      label,
      criterion: criterion === null ? null : textOfContent(criterion),
    })),
  };
}

function definitionOf({ type, instructions, options }: Question): Record<string, unknown> {
  const asked = instructions === undefined ? {} : { instructions };
  if (type === "score") return { type, ...asked, criteria: options.map(({ criterion }) => criterion) };
  const criteria = options.map(({ label, criterion }): [string, Content | null] => [label, criterion]);
  if (type === "choice") return { type, ...asked, criteria: Object.fromEntries(criteria) };
  const said = criteria.filter(([, criterion]) => criterion !== null);
  return { type, ...asked, ...(said.length === 0 ? {} : { criteria: Object.fromEntries(said) }) };
}

function readAnswer(batch: readonly Question[], { body, route }: PostResult, revision: number): BackendAnswer {
  if (!isRecord(body) || !isRecord(body["answers"])) throw new NonsenseAnswer("The upstream's reply has no answers.");
  const answers = body["answers"];
  const readings = batch.map((question): Observation[] => {
    const answer = Object.hasOwn(answers, question.key) ? answers[question.key] : undefined;
    if (!isRecord(answer)) throw new NonsenseAnswer(`Question ${JSON.stringify(question.key)} was not answered.`);
    return [observationOf(probabilitiesOf(question, answer, revision), revision)];
  });
  return {
    readings,
    route,
    ...tokensIn(body),
    ...optionalMember("upstreamModel", typeof body["model"] === "string" ? body["model"] : undefined),
  };
}

function probabilitiesOf(question: Question, answer: Readonly<Record<string, unknown>>, revision: number): number[] {
  const { key, type, options } = question;
  if (type === "noul") {
    const p = soundProbability(answer["noul"], key);
    return [p, 1 - p];
  }
  // An upstream that keys a score by the levels' texts may use the index as well.
  const byIndex = type === "score" && isRecord(answer["level_probabilities"]);
  const given = answer[byIndex ? "level_probabilities" : "probabilities"];
  if (!isRecord(given)) throw new NonsenseAnswer(`Question ${JSON.stringify(key)} has no probabilities.`);
  // Some upstreams omit options with probability zero. The sum shows whether that is the reason.
  const at = (name: string) => (Object.hasOwn(given, name) ? given[name] : 0);
  const labels = options.map(({ label }) => label);
  if (type === "choice") {
    refuseUnaskedOptions(Object.entries(given), labels, key);
    return soundDistribution(labels.map(at), key, revision);
  }
  // Some servers key a score by the levels' texts, which may also be numbers. The reading that explains all keys is used.
  const texts = distinct(options.map(({ criterion }) => textOfContent(criterion ?? "")));
  const explains = (names: readonly string[]) => Object.keys(given).every((name) => names.includes(name));
  const names = explains(labels) || !explains(texts) ? labels : texts;
  refuseUnaskedOptions(Object.entries(given), [...labels, ...texts], key);
  return soundDistribution(names.map(at), key, revision);
}

/** Combines the answers of several calls. */
export function gather(parts: readonly BackendAnswer[]): BackendAnswer {
  const { inputTokens: _first, ...first } = parts[0]!;
  let start = 0;
  const refused = parts.flatMap((part) => {
    const own = (part.refused ?? []).map((at) => start + at);
    start += part.readings.length;
    return own;
  });
  // There is no sum if a call reported no count, or if the sum is beyond the safe integers and cannot be billed.
  const sum = (counts: readonly (number | undefined)[]) =>
    tokensOf(counts.reduce<number>((total, count) => total + (count ?? Number.NaN), 0));
  return {
    ...first,
    readings: parts.flatMap(({ readings }) => readings),
    refused,
    outputTokens: sum(parts.map(({ outputTokens }) => outputTokens)) ?? 0,
    cachedTokens: sum(parts.map(({ cachedTokens = 0 }) => cachedTokens)) ?? 0,
    cacheWriteTokens: sum(parts.map(({ cacheWriteTokens = 0 }) => cacheWriteTokens)) ?? 0,
    ...optionalMember("inputTokens", sum(parts.map(({ inputTokens }) => inputTokens))),
  };
}

/** An object with the member, or without it if the value is undefined. */
export function optionalMember<K extends string, V>(name: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [name]: value } as Record<K, V>);
}
