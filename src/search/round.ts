// One search in progress: decides when which engines are queried, and when there are enough hits.
// The first engines are queried immediately. Another one follows for each that fails, and several when all queried ones are done
// without enough hits. With enough hits, an engine is awaited no longer than a share of the time; without any, slow engines are
// awaited until the deadline.

import { pageKey } from "../base/page-key.ts";
import { askEngine, type EngineCallDeps, type EngineOutcome } from "./ask.ts";
import type { ChosenEngine } from "./chosen.ts";
import type { Category, Hit, SearchQuery } from "./engine.ts";
import type { Failure, Unresponsive } from "./failure.ts";
import type { Ranking } from "./fuse.ts";
import type { HealthBook } from "./health.ts";
import { isUnrelated, JUDGED_MIN } from "./relevance.ts";
import type { Suspensions } from "./suspensions.ts";

/** How many engines are queried at first, and how many follow at a time. */
const WIDTH = 6;
const NEXT_WIDTH = 3;
/** With enough hits, the other engines are awaited until this share of the time has passed. */
const SHARE = 0.1;
/** The search enforces its own deadline, so the limit of a request comes slightly later. */
const AFTER_END_MS = 1000;
/** Maximum number of hits from one engine. */
const HITS_MAX = 100;
/** In these categories, hits match by more than the words in their titles. */
const WORDLESS: ReadonlySet<Category> = new Set<Category>(["images", "map"]);

/** What a search needs. */
export interface RoundDeps extends EngineCallDeps {
  readonly suspensions: Suspensions;
  readonly health: HealthBook;
  /** Called for each queried engine, with `ok` or the kind of failure. */
  asked?(engine: string, outcome: string, seconds: number): void;
  /** Called for an unexpected error, which is a bug. */
  unexpected(engine: string, error: unknown): void;
}

/** The wanted search. */
export interface RoundWish {
  readonly query: SearchQuery;
  /** The number of hits that is enough. */
  readonly limit: number;
  readonly timeoutMs: number;
}

/** The result of a search. */
export interface RoundResult {
  readonly rankings: readonly Ranking[];
  /** The sum of the weights of all queried engines. */
  readonly askedWeight: number;
  readonly suggestions: readonly string[];
  readonly corrections: readonly string[];
  readonly unresponsive: readonly Unresponsive[];
  readonly isTimeUp: boolean;
}

/** Queries engines in the given order until there are enough hits. Rejects only with the signal's reason. */
export async function runRound(
  engines: readonly ChosenEngine[],
  wish: RoundWish,
  deps: RoundDeps,
  signal: AbortSignal,
): Promise<RoundResult> {
  signal.throwIfAborted();
  const round = new Round(engines, wish, deps);
  const stop = () => round.stop(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await round.run();
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** An engine that has not answered yet. */
interface Running {
  readonly chosen: ChosenEngine;
  /** Undefined while it waits for its rate limit. */
  startedMs: number | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** How long it took to answer; 0 until then. */
  tookMs: number;
  /** Whether it exceeded its own time limit. It is then reported as failed, unless it answers while others are awaited. */
  isLate: boolean;
}

/** An answer of an engine, and its hits, which may be unrelated to the query. */
interface Doubtful {
  readonly running: Running;
  readonly answer: Exclude<EngineOutcome, { failure: Failure }>;
}

class Round {
  readonly #wish: RoundWish;
  readonly #deps: RoundDeps;
  /** The engines that were not queried yet. */
  readonly #waiting: ChosenEngine[];
  readonly #running = new Set<Running>();
  readonly #rankings: Ranking[] = [];
  readonly #pages = new Set<string>();
  /** Answers that no other engine has confirmed yet. */
  readonly #doubtful: Doubtful[] = [];
  readonly #failures = new Map<string, string>();
  readonly #suggestions = new Set<string>();
  readonly #corrections = new Set<string>();
  readonly #ended = Promise.withResolvers<RoundResult>();
  readonly #cut = new AbortController();
  readonly #startedMs = performance.now();
  #askedWeight = 0;
  #isShareOver = false;
  #isTimeUp = false;

  constructor(engines: readonly ChosenEngine[], wish: RoundWish, deps: RoundDeps) {
    this.#waiting = [...engines];
    this.#wish = wish;
    this.#deps = deps;
  }

  async run(): Promise<RoundResult> {
    const { timeoutMs } = this.#wish;
    const share = setTimeout(() => this.#shareOver(), timeoutMs * SHARE);
    const end = setTimeout(() => this.#timeUp(), timeoutMs);
    try {
      this.#askNext(WIDTH);
      return await this.#ended.promise;
    } finally {
      clearTimeout(share);
      clearTimeout(end);
      this.#cut.abort();
      for (const { timer } of this.#running) clearTimeout(timer);
    }
  }

  /** Ends the search when nobody waits for it. */
  stop(reason: unknown): void {
    this.#ended.reject(reason);
  }

  get #hasEnough(): boolean {
    return this.#pages.size >= this.#wish.limit;
  }

  /** Queries this many more engines, without those whose network has failed meanwhile. */
  #askNext(count: number): void {
    let left = count;
    while (left > 0) {
      const chosen = this.#waiting.shift();
      if (chosen === undefined) return;
      const suspension = this.#deps.suspensions.of(chosen.network);
      if (suspension === undefined) {
        this.#ask(chosen);
        left--;
      } else this.#failures.set(chosen.name, `suspended: ${suspension.kind}`);
    }
  }

  #ask(chosen: ChosenEngine): void {
    const leftMs = this.#startedMs + this.#wish.timeoutMs + AFTER_END_MS - performance.now();
    const running: Running = { chosen, startedMs: undefined, timer: undefined, tookMs: 0, isLate: false };
    const begun = () => {
      running.startedMs = performance.now();
      running.timer = setTimeout(() => this.#late(running), chosen.timeoutMs);
    };
    this.#askedWeight += chosen.weight;
    this.#running.add(running);
    askEngine(chosen, this.#wish.query, this.#deps, { leftMs, signal: this.#cut.signal, begun })
      .catch((error: unknown): EngineOutcome => {
        if (!this.#cut.signal.aborted) this.#deps.unexpected(chosen.name, error);
        return { failure: { kind: "unanswered", message: "The engine could not be queried." } };
      })
      .then((asked) => {
        if (!this.#cut.signal.aborted) this.#done(running, asked);
      });
  }

  #late(running: Running): void {
    running.isLate = true;
    this.#failed(running, TIMEOUT);
    this.#look();
  }

  #done(running: Running, asked: EngineOutcome): void {
    clearTimeout(running.timer);
    this.#running.delete(running);
    running.tookMs = since(running.startedMs);
    if ("failure" in asked) this.#failed(running, asked.failure);
    else this.#weigh({ running, answer: asked });
    this.#look();
  }

  /**
   * Uses hits that have words of the query, or pages that another engine has found. Others may be right too, since an abbreviation
   * need not stand in them, so they wait for what other engines say.
   */
  #weigh(doubtful: Doubtful): void {
    const { category, text } = this.#wish.query;
    const { hits } = doubtful.answer;
    const isDoubtful = !WORDLESS.has(category) && isUnrelated(text, hits) && !this.#hasPageOf(hits);
    const peer = isDoubtful ? this.#doubtful.find(({ answer }) => sharePage(answer.hits, hits)) : undefined;
    if (isDoubtful && peer === undefined) {
      this.#doubtful.push(doubtful);
      if (!this.#hasEnough) this.#askNext(1);
      return;
    }
    this.#succeeded(doubtful);
    for (
      let next = peer;
      next !== undefined;
      next = this.#doubtful.find(({ answer }) => this.#hasPageOf(answer.hits))
    ) {
      this.#doubtful.splice(this.#doubtful.indexOf(next), 1);
      this.#succeeded(next);
    }
  }

  #hasPageOf(hits: readonly Hit[]): boolean {
    return pagesOf(hits).some((page) => this.#pages.has(page));
  }

  /** Drops the hits that are still in doubt if another engine has enough that are not, and uses them otherwise. */
  #settle(): void {
    const isDenied = this.#rankings.some(({ hits }) => hits.length >= JUDGED_MIN);
    for (const doubtful of this.#doubtful.splice(0)) {
      if (isDenied) this.#failed(doubtful.running, UNRELATED);
      else this.#succeeded(doubtful);
    }
  }

  #succeeded({ running: { chosen, isLate, tookMs }, answer: asked }: Doubtful): void {
    const { name, weight, network } = chosen;
    const hits = asked.hits.slice(0, HITS_MAX);
    this.#rankings.push({ engine: name, weight, hits });
    for (const page of pagesOf(hits)) this.#pages.add(page);
    for (const suggestion of asked.suggestions) this.#suggestions.add(suggestion);
    for (const correction of asked.corrections) this.#corrections.add(correction);
    this.#failures.delete(name);
    if (isLate) return;
    this.#deps.health.succeeded(name, tookMs);
    this.#deps.suspensions.succeeded(network);
    if (asked.backOffMs !== undefined) this.#deps.suspensions.failed(network, "rate_limited", asked.backOffMs);
    this.#deps.asked?.(name, "ok", tookMs / 1000);
  }

  /** Records a failure, once for each engine, and queries another engine instead. */
  #failed({ chosen, startedMs, tookMs }: Running, failure: Failure): void {
    const { name, network } = chosen;
    // This includes an engine that was already recorded as late, since a captcha suspends it for longer.
    this.#deps.suspensions.failed(network, failure.kind, failure.retryAfterMs);
    if (this.#failures.has(name)) return;
    this.#failures.set(name, failure.kind);
    this.#deps.asked?.(name, failure.kind, (tookMs || since(startedMs)) / 1000);
    if (failure.kind !== "busy") this.#deps.health.failed(name, failure);
    if (!this.#hasEnough && !this.#cut.signal.aborted) this.#askNext(1);
  }

  /**
   * Records that the search ended before the engine's own time limit, because others gave enough hits or the caller had little
   * time. This is not a failure, since callers with little time must not have the engine suspended for everyone.
   */
  #dropped({ name }: ChosenEngine, startedMs: number): void {
    const reason = this.#isTimeUp ? TIMEOUT.kind : "too slow";
    this.#failures.set(name, reason);
    this.#deps.health.dropped(name, since(startedMs));
    this.#deps.asked?.(name, reason, since(startedMs) / 1000);
  }

  /** Ends the search, or queries further engines, depending on its state. */
  #look(): void {
    const isWaitingFor = [...this.#running].some(({ isLate }) => !isLate);
    if (isWaitingFor && !(this.#hasEnough && this.#isShareOver)) return;
    if (!this.#hasEnough) this.#askNext(NEXT_WIDTH);
    // Engines that were queried recently are awaited first.
    if (!this.#hasEnough && [...this.#running].some(({ isLate }) => !isLate)) return;
    if (this.#rankings.length + this.#doubtful.length > 0 || this.#running.size === 0) this.#end();
  }

  #shareOver(): void {
    this.#isShareOver = true;
    if (!this.#hasEnough) this.#askNext(NEXT_WIDTH);
    this.#look();
  }

  #timeUp(): void {
    this.#isTimeUp = true;
    this.#end();
  }

  #end(): void {
    this.#cut.abort();
    this.#settle();
    for (const running of this.#running) {
      if (running.isLate) continue;
      const { chosen, startedMs } = running;
      if (startedMs === undefined)
        this.#failed(running, { kind: "busy", message: "Its rate limit did not allow a request in time." });
      else this.#dropped(chosen, startedMs);
    }
    this.#ended.resolve({
      rankings: this.#rankings,
      askedWeight: this.#askedWeight,
      suggestions: [...this.#suggestions],
      corrections: [...this.#corrections],
      unresponsive: [...this.#failures].map(([name, reason]) => ({ name, reason })),
      isTimeUp: this.#isTimeUp,
    });
  }
}

const UNRELATED: Failure = {
  kind: "unrelated",
  message: "The hits are unrelated to the query, and other engines' are not.",
};
const TIMEOUT: Failure = { kind: "timeout", message: "The engine did not answer in time." };

function since(startedMs: number | undefined): number {
  return startedMs === undefined ? 0 : performance.now() - startedMs;
}

function pagesOf(hits: readonly Hit[]): string[] {
  return hits.slice(0, HITS_MAX).flatMap(({ url }) => (URL.canParse(url) ? [pageKey(url)] : []));
}

function sharePage(some: readonly Hit[], others: readonly Hit[]): boolean {
  const pages = new Set(pagesOf(some));
  return pagesOf(others).some((page) => pages.has(page));
}
