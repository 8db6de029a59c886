// Reads the stored responses of engines, and replays them in place of the network.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type {
  EngineContext,
  EngineRequest,
  EngineResponse,
  Hit,
  Parsed,
  SearchEngine,
} from "../../src/search/engine.ts";

/** One stored answer: a file next to the manifest, or a short text. */
export interface Answer {
  file?: string;
  text?: string;
  status?: number;
  headers?: Record<string, string>;
  /** The address after redirects. If it is absent, it is the requested address. */
  url?: string;
}

/** The result of an engine for these answers, which are given in the order of its requests. */
export interface SampleCase {
  name: string;
  category?: EngineContext["query"]["category"];
  language?: string;
  answers: Answer[];
  hits?: Hit[];
  suggestions?: string[];
  corrections?: string[];
  backOffMs?: number;
  failure?: string;
  retryAfterMs?: number;
}

export interface Sample {
  /** The public page or file from which the answers were written. */
  source: string;
  cases: SampleCase[];
}

const FOLDER = join(import.meta.dir, "samples");

/** The names of the engines with samples. */
export const sampleNames = (): string[] => readdirSync(FOLDER).sort();

/** The samples of an engine. Throws if there are none. */
export function readSample(name: string): Sample {
  return JSON.parse(readFileSync(join(FOLDER, name, "sample.json"), "utf8")) as Sample;
}

/** The body of a stored answer. */
export function bodyOf(name: string, answer: Answer): string {
  return answer.file === undefined ? (answer.text ?? "") : readFileSync(join(FOLDER, name, answer.file), "utf8");
}

/** The context that a search would create, except for the given parts. */
export function contextFor(
  engine: SearchEngine,
  { query = {}, settings = {}, remembered }: ContextParts = {},
): EngineContext {
  return {
    query: {
      text: "a query",
      category: engine.categories[0] ?? "general",
      limit: 5,
      page: 1,
      safe: "moderate",
      nowMs: Date.parse("2026-11-22T12:00:00Z"),
      ...query,
    },
    settings: {
      userAgent: "Sallyport/1.0 (test)",
      ...(engine.key === undefined ? {} : { apiKey: "who:secret" }),
      ...(engine.needsBaseUrl === undefined ? {} : { baseUrl: "https://instance.example" }),
      ...settings,
    },
    ...(remembered === undefined ? {} : { remembered }),
  };
}

/** The parts of a context that a test sets. */
export interface ContextParts {
  query?: Partial<EngineContext["query"]>;
  settings?: Partial<EngineContext["settings"]>;
  remembered?: string;
}

/** The answer in the form in which the engine gets it. */
export function responseTo(request: EngineRequest, answer: Answer, body: string): EngineResponse {
  return {
    status: answer.status ?? 200,
    headers: new Headers(answer.headers ?? {}),
    url: answer.url ?? request.url,
    body,
    request,
  };
}

/** More steps than any engine needs. */
const STEPS_MAX = 4;

/** Plays a case: every request gets the next answer. `change` may damage the last body. */
export function play(
  engine: SearchEngine,
  one: SampleCase,
  { change = (body) => body, context }: { change?: (body: string) => string; context?: EngineContext } = {},
): { parsed: Parsed; requests: EngineRequest[] } {
  const asked = context ?? contextOfCase(engine, one);
  const requests: EngineRequest[] = [];
  let request = engine.request(asked);
  for (let step = 0; step < STEPS_MAX; step++) {
    requests.push(request);
    const answer = one.answers[step];
    if (answer === undefined) throw new Error(`${engine.name} asks more often than "${one.name}" has answers.`);
    const isLast = step === one.answers.length - 1;
    const body = bodyOf(engine.name, answer);
    const parsed = engine.parse(responseTo(request, answer, isLast ? change(body) : body), asked);
    if (parsed.kind !== "next") return { parsed, requests };
    request = parsed.request;
  }
  throw new Error(`${engine.name} asks more than ${STEPS_MAX} times.`);
}

/** The context of a case. */
export function contextOfCase(engine: SearchEngine, one: SampleCase): EngineContext {
  return contextFor(engine, {
    query: {
      ...(one.category === undefined ? {} : { category: one.category }),
      ...(one.language === undefined ? {} : { language: one.language }),
    },
  });
}
