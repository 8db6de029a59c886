// The search: queries several engines at once and merges their results. It keeps the state of engines between searches.

import type { Clock } from "../base/clock.ts";
import { type Flights, ownFlights } from "../base/flights.ts";
import type { Config } from "../config/schema.ts";
import { createAddressGuard } from "../net/address-guard.ts";
import { createFetch, type GuardedFetch } from "../net/fetch.ts";
import { createResolve } from "../net/resolve.ts";
import { createAnswerReader } from "./answers/read.ts";
import { askEngine, EngineMemory } from "./ask.ts";
import { asUsed, type ChosenEngine, chooseEngines, ofCategory, type WhyOff, whyOff } from "./chosen.ts";
import type { Category, SafeSearch, SearchEngine, SearchQuery, TimeRange } from "./engine.ts";
import { type FailureKind, SearchError, type Unresponsive } from "./failure.ts";
import { type Fused, fuse } from "./fuse.ts";
import { type EngineHealth, HealthBook } from "./health.ts";
import { guessLanguage } from "./language.ts";
import { Pace } from "./pace.ts";
import { KEPT_MS, RecentAnswers, SharedWork } from "./recent-answers.ts";
import { type RoundDeps, runRound } from "./round.ts";
import { suggest } from "./suggest.ts";
import { Suspensions } from "./suspensions.ts";

/** A search. */
export interface SearchRequest {
  readonly text: string;
  readonly category: Category;
  /** A BCP-47 tag; with `auto` it is guessed from the query, and if empty any language is searched. */
  readonly language: string;
  readonly limit: number;
  readonly timeoutMs: number;
  readonly timeRange?: TimeRange | undefined;
  /** Replaces the operator's setting if it is stricter. */
  readonly safe?: SafeSearch | undefined;
}

/** The result of a search, the best hit first. */
export interface SearchAnswer {
  readonly results: readonly Fused[];
  readonly suggestions: readonly string[];
  readonly corrections: readonly string[];
  readonly unresponsive: readonly Unresponsive[];
}

/** The state of an engine as the operator sees it. */
export interface EngineState extends EngineHealth {
  readonly name: string;
  readonly categories: readonly Category[];
  /** Why it is not enabled; undefined if it is. */
  readonly whyOff: WhyOff | undefined;
  readonly suspended: { readonly kind: FailureKind; readonly untilMs: number } | undefined;
}

/** The result of a test query to one engine. */
export interface EngineProbe {
  readonly hits: number;
  readonly ms: number;
  /** The failure; undefined if it answered. */
  readonly error: { readonly kind: FailureKind; readonly message: string } | undefined;
}

/** The search service. */
export interface Search {
  /** Searches. Throws `SearchError`, or the signal's reason. */
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer>;
  /** The state of all engines. */
  engines(): EngineState[];
  /** Queries one engine, even if it is suspended, without the cache. Undefined if there is no engine of that name. */
  probe(name: string, signal: AbortSignal): Promise<EngineProbe | undefined>;
  /** The number of searches in progress. */
  running(): number;
  /** Stores and restores the health of engines over a restart. */
  readonly health: Pick<HealthBook, "snapshot" | "restore">;
  /** Applies the current configuration. */
  reconfigure(): void;
  /** Stops the threads. Searches in progress fail. */
  close(): void;
}

/** What search needs. */
export interface SearchDeps {
  config(): Pick<Config, "search" | "web">;
  readonly clock: Clock;
  /** The program's guarded fetch, for the engines' own addresses. */
  readonly fetch: GuardedFetch;
  readonly engines: readonly SearchEngine[];
  asked?: RoundDeps["asked"];
  unexpected(message: string, error: unknown): void;
  /** If several nodes are configured, one of them runs a search for all. */
  readonly flights?: Flights | undefined;
  /** What is known of the engines' health; absent: nothing. */
  readonly health?: HealthBook | undefined;
}

/** Maximum number of concurrent searches; further ones are refused. */
const SEARCHES_MAX = 500;
/** Minimum number of hits that each engine is asked for, since a page that three engines rank eighth is relevant. */
const ENGINE_HITS_MIN = 10;
/** Maximum number of cached results, in case the same query comes with a higher limit. */
const RESULTS_MAX = 50;
const PROBE_TIMEOUT_MS = 20_000;
/** The test query, for all categories except places and music. */
const PROBE_QUERY = "linux";
const PROBE_QUERIES: Readonly<Partial<Record<Category, string>>> = { map: "Berlin", music: "Bach" };

/** Creates the search. */
export function createSearch(deps: SearchDeps): Search {
  const { clock, config, flights: nodes = ownFlights } = deps;
  const recent = new RecentAnswers<SearchAnswer & { readonly limit: number }>(clock);
  const flights = new SharedWork<SearchAnswer>(SEARCHES_MAX);
  const own = new Map<string, GuardedFetch>();
  const reader = createAnswerReader();
  const round: RoundDeps = {
    clock,
    pace: new Pace(clock),
    memory: new EngineMemory(clock),
    reader,
    fetchFor: ({ settings: { baseUrl } }) => (baseUrl === undefined ? deps.fetch : fetchAt(baseUrl, config().web, own)),
    suspensions: new Suspensions(clock),
    health: deps.health ?? new HealthBook(clock),
    unexpected: (engine, error) => deps.unexpected(`the search engine ${engine} failed`, error),
    ...(deps.asked && { asked: deps.asked }),
  };
  const used = (engine: SearchEngine) => asUsed(engine, config().search, config().web.userAgent);
  const choose = () => chooseEngines(deps.engines, config().search, config().web.userAgent);
  const settings = () => JSON.stringify([config().search, [...config().search.engines], config().web]);
  let chosen = choose();
  let made = settings();
  let changes = 0;
  return {
    health: round.health,
    running: () => flights.running,
    async search(request, signal) {
      const { text, category, language, safe, timeRange, limit, timeoutMs } = request;
      const key = JSON.stringify([spaced(text), category, language, safe, timeRange]);
      const known = recent.get(key);
      if (known !== undefined && (known.limit >= limit || known.results.length >= limit)) return cutTo(known, limit);
      const flight = `${key} ${limit} ${timeoutMs} ${changes}`;
      if (flights.isFull(flight)) throw new SearchError("full", "Too many searches are in progress, try again soon");
      const answer = await flights.join(flight, signal, async (stop) => {
        const begunAfter = changes;
        const anew = () => searchAnew(request, { chosen, round, isSafe: config().search.safe }, stop);
        // Nodes with other settings get other results.
        const name = `search ${key} ${limit} ${made}`;
        const { value: found, leftMs } = await nodes.share(name, anew, {
          keptMs: keptMsOf(limit),
          signal: stop,
          waitMs: timeoutMs,
        });
        if (leftMs > 0 && changes === begunAfter)
          recent.keep(key, { ...found, limit }, { chars: JSON.stringify(found).length, forMs: leftMs });
        return found;
      });
      return cutTo(answer, limit);
    },
    engines: () =>
      deps.engines.map((engine) => {
        const { name, categories } = engine;
        const suspended = round.suspensions.of(used(engine).network);
        return {
          name,
          categories,
          whyOff: whyOff(engine, config().search),
          suspended: suspended && { kind: suspended.kind, untilMs: suspended.untilMs },
          ...round.health.of(name),
        };
      }),
    async probe(name, signal) {
      const engine = deps.engines.find((one) => one.name === name);
      return engine === undefined ? undefined : probeEngine(used(engine), round, signal);
    },
    reconfigure() {
      // The state of engines is kept if a configuration change does not concern them.
      if (settings() === made) return;
      made = settings();
      changes++;
      chosen = choose();
      own.clear();
      recent.clear();
      round.memory.clear();
      round.suspensions.forget();
    },
    close: () => reader.close(),
  };
}

/** How long a result is reused. The time is shorter if engines failed, because a new search may soon be better. */
function keptMsOf(limit: number): (found: SearchAnswer) => number {
  return ({ results, unresponsive }) => {
    const isWhole = results.length >= limit || unresponsive.length === 0;
    return results.length > 0 && isWhole ? KEPT_MS : 0;
  };
}

/** Runs one search without the cache. */
async function searchAnew(
  request: SearchRequest,
  { chosen, round, isSafe }: { chosen: readonly ChosenEngine[]; round: RoundDeps; isSafe: boolean },
  signal: AbortSignal,
): Promise<SearchAnswer> {
  const { category, limit, timeoutMs } = request;
  const query = asQuery(request, isSafe, round.clock.now());
  const { usable, suspended } = available(ofCategory(chosen, category), query, round);
  if (usable.length === 0) throw noEngine(query, suspended);
  const hints: string[] = [];
  const enough = new AbortController();
  const both = AbortSignal.any([signal, enough.signal]);
  if (!SILENT.has(category))
    suggest(usable, query, round, { leftMs: timeoutMs, signal: both }).then(
      (found) => hints.push(...found),
      (error: unknown) => round.unexpected("suggestions", error),
    );
  try {
    const result = await runRound(usable, { query, limit, timeoutMs }, round, signal);
    const unresponsive = [...result.unresponsive, ...suspended];
    if (result.rankings.length === 0) throw noAnswer(result.isTimeUp, unresponsive);
    return {
      results: fuse(result.rankings, { askedWeight: result.askedWeight, category }).slice(0, RESULTS_MAX),
      suggestions: distinct([...result.suggestions, ...hints], query.text),
      corrections: distinct(result.corrections, query.text),
      unresponsive,
    };
  } finally {
    enough.abort();
  }
}

/** The categories in which suggestions are not useful. */
const SILENT: ReadonlySet<Category> = new Set<Category>(["images", "map", "files", "music"]);

function asQuery(request: SearchRequest, isSafe: boolean, nowMs: number): SearchQuery {
  const { text, category, language, limit, timeRange, safe = "off" } = request;
  return {
    text: spaced(text),
    category,
    language: language === "auto" ? guessLanguage(text) : language || undefined,
    limit: Math.max(limit, ENGINE_HITS_MIN),
    page: 1,
    // The operator's setting is the minimum.
    safe: isSafe && safe === "off" ? "moderate" : safe,
    timeRange,
    nowMs,
  };
}

function spaced(text: string): string {
  return text.normalize("NFC").replace(/\s+/g, " ").trim();
}

/** The engines that can be queried, healthy ones first, then those with more weight; and the suspended ones. */
function available(engines: readonly ChosenEngine[], { timeRange }: SearchQuery, { suspensions, health }: RoundDeps) {
  const suspended: Unresponsive[] = [];
  const usable = engines.filter(({ name, network, engine }) => {
    if (timeRange !== undefined && engine.timeRanges?.includes(timeRange) !== true) return false;
    const suspension = suspensions.of(network);
    if (suspension !== undefined) suspended.push({ name, reason: `suspended: ${suspension.kind}` });
    return suspension === undefined;
  });
  const order = new Map(usable.map((one, index) => [one, index]));
  const rank = ({ name, engine }: ChosenEngine) => health.rank(name) - (engine.key === undefined ? 0 : KEYED_BONUS);
  usable.sort((a, b) => rank(a) - rank(b) || b.weight - a.weight || (order.get(a) ?? 0) - (order.get(b) ?? 0));
  return { usable, suspended };
}

/** An engine with a key is paid for, so it is preferred unless it mostly fails. */
const KEYED_BONUS = 2;

function noEngine({ category, timeRange }: SearchQuery, suspended: readonly Unresponsive[]): SearchError {
  const kind = timeRange === undefined ? category : `${category} that can be told a time range`;
  const message =
    suspended.length === 0
      ? `No search engine is enabled for ${kind}`
      : `Every search engine for ${kind} is suspended after failures`;
  return new SearchError("unavailable", message, suspended);
}

function noAnswer(isTimeUp: boolean, unresponsive: readonly Unresponsive[]): SearchError {
  if (isTimeUp) return new SearchError("timeout", "No search engine answered in time", unresponsive);
  const isBusy = unresponsive.every(({ reason }) => reason === "busy" || reason.startsWith("suspended"));
  return isBusy
    ? new SearchError("unavailable", "No search engine accepts a request at the moment", unresponsive)
    : new SearchError("failed", "Every search engine that was asked failed", unresponsive);
}

/** Each text once, without the query itself, up to a readable number. */
function distinct(texts: readonly string[], query: string): string[] {
  const seen = new Set([query.toLowerCase()]);
  const kept = texts.filter((text) => {
    const key = text.toLowerCase();
    if (seen.has(key) || text.length > HINT_CHARS_MAX) return false;
    seen.add(key);
    return true;
  });
  return kept.slice(0, HINTS_MAX);
}

/** Maximum number of suggestions, and of corrections. */
const HINTS_MAX = 20;
const HINT_CHARS_MAX = 300;

function cutTo(answer: SearchAnswer, limit: number): SearchAnswer {
  const { results, suggestions, corrections, unresponsive } = answer;
  return { results: results.slice(0, limit), suggestions, corrections, unresponsive };
}

/** The fetch for an address of the operator's own. Its host may be private; its redirects are checked as usual. */
function fetchAt(baseUrl: string, web: Config["web"], made: Map<string, GuardedFetch>): GuardedFetch {
  const known = made.get(baseUrl);
  if (known !== undefined) return known;
  const { hostname, port, protocol } = new URL(baseUrl);
  const host = `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
  const policy = { allowPrivateNetworks: false, allowHosts: [host], ports: web.ports };
  const fetch = createFetch(createAddressGuard(policy, createResolve(web.dns)));
  made.set(baseUrl, fetch);
  return fetch;
}

async function probeEngine(used: ChosenEngine, round: RoundDeps, signal: AbortSignal): Promise<EngineProbe> {
  const startedMs = performance.now();
  const [category = "general"] = used.engine.categories;
  const query: SearchQuery = {
    text: PROBE_QUERIES[category] ?? PROBE_QUERY,
    category,
    limit: ENGINE_HITS_MIN,
    page: 1,
    safe: "moderate",
    nowMs: round.clock.now(),
  };
  const asked = await askEngine(used, query, round, { leftMs: PROBE_TIMEOUT_MS, signal });
  const ms = performance.now() - startedMs;
  if ("failure" in asked) {
    round.health.failed(used.name, asked.failure);
    return { hits: 0, ms, error: asked.failure };
  }
  round.health.succeeded(used.name, ms);
  round.suspensions.forget(used.network);
  return { hits: asked.hits.length, ms, error: undefined };
}
