// What is known of routes while the program runs, for models whose routes are chosen by latency or by load: how long their answers
// took to begin in the last minutes, and how many calls each has in progress. Routes of all other models are not measured.

import type { ModelRoute } from "../../catalog/models.ts";
import { orderRoutes } from "./order.ts";

/** The routes in the order in which they are tried, and why the first one is first. */
export interface ScoredOrder {
  readonly routes: readonly ModelRoute[];
  readonly why: string;
}

/** Orders routes by what was measured. */
export interface RouteScores {
  /** `stream`: whether the answer is streamed. Whole answers take longer to begin, so that they are measured apart. */
  order(routes: readonly ModelRoute[], stream: boolean): ScoredOrder;
  /** A call has begun. Call what it returns when the call is over. */
  begun(route: ModelRoute): () => void;
  /** An answer has begun after so many milliseconds. */
  answered(route: ModelRoute, stream: boolean, ms: number): void;
  /** A call has failed because of the provider. */
  failed(route: ModelRoute, stream: boolean): void;
}

export interface RouteScoresOptions {
  /** Milliseconds from any start. */
  readonly now: () => number;
  readonly random: () => number;
}

/** Older measurements say nothing of the moment. */
const KEPT_MS = 5 * 60_000;
const SAMPLES_MAX = 64;
/** With fewer measurements a route counts as unknown. */
const SAMPLES_MIN = 3;
/** The share of requests that measure a route of which nothing is known. */
const LOOK_SHARE = 0.05;
/** Another route must be faster by this share to take over, so that two of about the same speed do not take turns. */
const FASTER_SHARE = 0.2;
/** How long an answer counts that did not come. */
const FAILED_MS = 30_000;
/** Groups of routes of which the current first one is known. */
const LEADERS_MAX = 10_000;

interface Sample {
  readonly atMs: number;
  readonly ms: number;
}

const keyOf = ({ provider, model }: ModelRoute) => `${provider}\n${model}`;

/** Creates the scores; nothing is known yet. */
export function createRouteScores({ now, random }: RouteScoresOptions): RouteScores {
  const samples = new Map<string, Sample[]>();
  const running = new Map<string, number>();
  const leaders = new Map<string, string>();
  const sampleKey = (route: ModelRoute, stream: boolean) => `${keyOf(route)}\n${stream}`;
  const add = (route: ModelRoute, stream: boolean, ms: number) => {
    const key = sampleKey(route, stream);
    const kept = samples.get(key) ?? [];
    kept.push({ atMs: now(), ms });
    if (kept.length > SAMPLES_MAX) kept.shift();
    samples.set(key, kept);
  };
  const medianOf = (route: ModelRoute, stream: boolean) => {
    const fromMs = now() - KEPT_MS;
    const recent = (samples.get(sampleKey(route, stream)) ?? []).filter(({ atMs }) => atMs > fromMs);
    if (recent.length < SAMPLES_MIN) return undefined;
    return recent.map(({ ms }) => ms).sort((a, b) => a - b)[recent.length >> 1];
  };
  const byLatency = (routes: readonly ModelRoute[], stream: boolean): ScoredOrder => {
    const medians = new Map(routes.map((route) => [route, medianOf(route, stream)]));
    const usual = orderRoutes(routes, { random });
    const known = usual.filter((route) => medians.get(route) !== undefined);
    const unknown = usual.filter((route) => medians.get(route) === undefined);
    if (known.length === 0) return { routes: usual, why: "latency: unknown" };
    const ms = (route: ModelRoute) => medians.get(route) ?? Number.POSITIVE_INFINITY;
    known.sort((a, b) => ms(a) - ms(b));
    const group = `${stream}\n${routes.map(keyOf).join("\n")}`;
    const fastest = known[0]!;
    const before = known.find((route) => keyOf(route) === leaders.get(group));
    const leader = before !== undefined && ms(fastest) > ms(before) * (1 - FASTER_SHARE) ? before : fastest;
    if (leader !== before) {
      if (leaders.size >= LEADERS_MAX) leaders.clear();
      leaders.set(group, keyOf(leader));
    }
    const ordered = [leader, ...known.filter((route) => route !== leader), ...unknown];
    const looked = unknown[0];
    if (looked === undefined || random() >= LOOK_SHARE) {
      return { routes: ordered, why: `latency: ${Math.round(ms(leader))} ms` };
    }
    return { routes: [looked, ...ordered.filter((route) => route !== looked)], why: "latency: measured" };
  };
  const byLoad = (routes: readonly ModelRoute[]): ScoredOrder => {
    const load = (route: ModelRoute) => running.get(keyOf(route)) ?? 0;
    const ordered = orderRoutes(routes, { random }).sort((a, b) => load(a) - load(b));
    return { routes: ordered, why: `busy: ${load(ordered[0]!)}` };
  };
  return {
    order(routes, stream) {
      const choice = routes[0]?.choice;
      if (choice === "latency") return byLatency(routes, stream);
      if (choice === "busy") return byLoad(routes);
      return { routes: orderRoutes(routes, { random }), why: choice ?? "priority" };
    },
    begun(route) {
      const key = keyOf(route);
      running.set(key, (running.get(key) ?? 0) + 1);
      return () => {
        const rest = (running.get(key) ?? 1) - 1;
        if (rest > 0) running.set(key, rest);
        else running.delete(key);
      };
    },
    answered: add,
    failed: (route, stream) => add(route, stream, FAILED_MS),
  };
}
