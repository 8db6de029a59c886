// Queries one engine: sends its requests within the rate limit, and parses the responses with the engine's parser. Rejects only
// with the signal's reason.

import type { Clock } from "../base/clock.ts";
import { pause } from "../base/retry.ts";
import { BlockedAddress } from "../net/address-guard.ts";
import { FetchError, type GuardedFetch } from "../net/fetch.ts";
import { PoolFull } from "../workers/pool.ts";
import type { AnswerReader } from "./answers/read.ts";
import type { ChosenEngine } from "./chosen.ts";
import type { EngineContext, EngineRequest, EngineResponse, Hit, Remember, SearchQuery } from "./engine.ts";
import type { Failure } from "./failure.ts";
import type { Pace } from "./pace.ts";

/** What querying an engine needs. */
export interface EngineCallDeps {
  readonly clock: Clock;
  readonly pace: Pace;
  readonly memory: EngineMemory;
  readonly reader: Pick<AnswerReader, "read">;
  /** The fetch for this engine's addresses. */
  fetchFor(chosen: ChosenEngine): GuardedFetch;
}

/** The result of querying an engine. */
export type EngineOutcome =
  | {
      readonly hits: readonly Hit[];
      readonly suggestions: readonly string[];
      readonly corrections: readonly string[];
      /** How long the engine asks not to be queried, although it answered. */
      readonly backOffMs?: number | undefined;
    }
  | { readonly failure: Failure };

/** Maximum size of a response. Result pages have a few hundred kilobytes. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
/** Maximum number of requests in one exchange, such as a token, the search, and the details of the results. */
const STEPS_MAX = 4;
const REDIRECTS_MAX = 5;

/** Queries an engine. `leftMs` is the time limit of the whole exchange; `begun` is called when the first request is sent. */
export async function askEngine(
  chosen: ChosenEngine,
  query: SearchQuery,
  deps: EngineCallDeps,
  { leftMs, signal, begun }: { leftMs: number; signal: AbortSignal; begun?: () => void },
): Promise<EngineOutcome> {
  const { engine, settings } = chosen;
  const endsMs = performance.now() + leftMs;
  let context: EngineContext = { query: askable(query, chosen), settings, remembered: deps.memory.recall(chosen) };
  try {
    let request = engine.request(context);
    for (let step = 0; step < STEPS_MAX; step++) {
      if (!(await inTurn(chosen, deps, endsMs - performance.now(), signal))) return { failure: BUSY };
      if (step === 0) begun?.();
      const response = await send(request, deps.fetchFor(chosen), { leftMs: endsMs - performance.now(), signal });
      const parsed = await deps.reader.read(engine, response, context, signal);
      if (parsed.kind === "hits") {
        const { hits, suggestions = [], corrections = [], backOffMs } = parsed;
        return { hits, suggestions, corrections, backOffMs };
      }
      if (parsed.kind === "failure") {
        // The failure may be caused by the remembered token.
        deps.memory.forget(chosen);
        return { failure: parsed.failure };
      }
      if (parsed.remember !== undefined) {
        deps.memory.keep(chosen, parsed.remember);
        context = { ...context, remembered: parsed.remember.value };
      }
      request = parsed.request;
    }
    return { failure: { kind: "changed_markup", message: "The engine asks for one request after the other." } };
  } catch (error) {
    signal.throwIfAborted();
    return { failure: failureOf(error) };
  }
}

const BUSY: Failure = {
  kind: "busy",
  message: "The engine's rate limit would delay the request too long.",
};

/** The query without the parameters that the engine does not support. */
function askable(query: SearchQuery, { engine }: ChosenEngine): SearchQuery {
  const { languages } = engine;
  if (query.language === undefined || !Array.isArray(languages)) return query;
  const primary = query.language.toLowerCase().split("-", 1)[0];
  const knows = languages.some((language) => language.toLowerCase().split("-", 1)[0] === primary);
  return knows ? query : { ...query, language: undefined };
}

/**
 * Waits until the engine's rate limit allows a request. Returns false if that would take too long. An engine at the operator's
 * own address has no limit.
 */
async function inTurn(
  { engine, network, settings }: ChosenEngine,
  { pace }: EngineCallDeps,
  waitMaxMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const requestRate =
    (settings.apiKey !== undefined ? engine.optionalKey?.requestRate : undefined) ?? engine.requestRate;
  if (requestRate === undefined || settings.baseUrl !== undefined) return true;
  const turn = pace.next(network, requestRate, waitMaxMs);
  if (turn === undefined) return false;
  if (turn.waitMs <= 0) return true;
  try {
    await pause(turn.waitMs, signal);
    return true;
  } catch (error) {
    turn.cancel();
    throw error;
  }
}

async function send(
  request: EngineRequest,
  guardedFetch: GuardedFetch,
  { leftMs, signal }: { leftMs: number; signal: AbortSignal },
): Promise<EngineResponse> {
  const { method, url, headers, body } = request;
  const fetched = await guardedFetch(url, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    bytesMax: ANSWER_BYTES_MAX,
    timeoutMs: Math.max(1, leftMs),
    redirectsMax: REDIRECTS_MAX,
    // Hosts that the operator allowed for pages are not allowed for an engine's redirects.
    home: url,
    signal,
  });
  return {
    status: fetched.status,
    headers: fetched.headers,
    url: fetched.url,
    body: decoderFor(fetched.headers).decode(fetched.body),
    request,
  };
}

function decoderFor(headers: Headers): TextDecoder {
  const label = /charset\s*=\s*"?([\w-]+)/i.exec(headers.get("content-type") ?? "")?.[1] ?? "utf-8";
  try {
    return new TextDecoder(label as Bun.Encoding);
  } catch {
    return new TextDecoder();
  }
}

/** Words a network error. */
function failureOf(error: unknown): Failure {
  if (error instanceof FetchError) {
    if (error.fault === "timeout") return { kind: "timeout", message: "The engine did not answer in time." };
    if (error.fault === "too_large")
      return { kind: "changed_markup", message: "The engine's answer is larger than any page of results." };
    return { kind: "network", message: error.message };
  }
  if (error instanceof PoolFull) return { kind: "busy", message: "Too many answers are waiting to be read." };
  if (error instanceof BlockedAddress) return { kind: "network", message: error.message };
  throw error;
}

/** The tokens that engines expect to get back, one for each engine, until they expire. */
export class EngineMemory {
  readonly #clock: Clock;
  readonly #byEngine = new Map<string, { value: string; untilMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  recall(chosen: ChosenEngine): string | undefined {
    const known = this.#byEngine.get(keyOf(chosen));
    return known !== undefined && known.untilMs > this.#clock.now() ? known.value : undefined;
  }

  keep(chosen: ChosenEngine, { value, forMs }: Remember): void {
    this.#byEngine.set(keyOf(chosen), { value, untilMs: this.#clock.now() + forMs });
  }

  forget(chosen: ChosenEngine): void {
    this.#byEngine.delete(keyOf(chosen));
  }

  /** Drops all tokens after the operator changed the settings, since they were given for other settings. */
  clear(): void {
    this.#byEngine.clear();
  }
}

function keyOf({ name, network }: ChosenEngine): string {
  return `${name} ${network}`;
}
