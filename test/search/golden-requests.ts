// The table of requests that engines send, in a few contexts. If a request is meant to change: bun run generate

import type { EngineContext, EngineRequest, SearchEngine } from "../../src/search/engine.ts";
import { ENGINES } from "../../src/search/engines/index.ts";
import { bodyOf, type ContextParts, contextFor, readSample, responseTo } from "./samples.ts";

/** The file with the table. */
export const ENGINE_REQUESTS = "test/search/requests.json";

/** The file's text. */
export function engineRequests(): string {
  const table = Object.fromEntries(ENGINES.map((engine) => [engine.name, requestsOf(engine)]));
  return `${JSON.stringify(table, null, 2)}\n`;
}

/** The contexts in which each engine is called. */
const ASKED: Readonly<Record<string, (engine: SearchEngine) => ContextParts>> = {
  plain: () => ({ query: { text: "solar eclipse" } }),
  everything: (engine) => ({
    query: {
      text: 'C# & "naïve" 日本+1%?/=;',
      language: "de-AT",
      safe: "strict",
      timeRange: "week",
      limit: 20,
      page: Math.min(2, engine.pagesMax ?? 1),
      category: engine.categories.at(-1)!,
    },
  }),
  unsafe: () => ({ query: { text: "a", language: "zh-TW", safe: "off", timeRange: "year", limit: 1 } }),
  keyed: (engine) => ({
    query: { text: "solar eclipse" },
    ...((engine.key ?? engine.optionalKey) !== undefined && { settings: { apiKey: "who:secret" } }),
  }),
};

/** The requests of an engine, one per line. */
export function requestsOf(engine: SearchEngine): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(ASKED).map(([name, parts]) => [
      name,
      exchangeOf(engine, contextFor(engine, parts(engine))).map(lineOf),
    ]),
  );
}

function lineOf({ method, url, headers, body, step }: EngineRequest): string {
  const words = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [
    `${method} ${url}`,
    ...words.sort(),
    ...(body === undefined ? [] : [body]),
    ...(step ? [`(${step})`] : []),
  ].join(" | ");
}

/** All requests of an exchange whose first answers come from the samples. */
export function exchangeOf(engine: SearchEngine, context: EngineContext): EngineRequest[] {
  const { answers } = readSample(engine.name).cases.find(({ name }) => name === "full")!;
  const requests = [engine.request(context)];
  for (const answer of answers.slice(0, -1)) {
    const request = requests.at(-1)!;
    const parsed = engine.parse(responseTo(request, answer, bodyOf(engine.name, answer)), context);
    if (parsed.kind !== "next") throw new Error(`${engine.name} was to ask again.`);
    requests.push(parsed.request);
  }
  return requests;
}
