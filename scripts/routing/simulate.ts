// A simulation of requests over routes that differ in speed, room and price, in simulated time: what a way to choose among routes
// brings, and how often it changes its mind.

import type { ModelRoute } from "../../src/catalog/models.ts";
import { chosenBy, type RouteChoice } from "../../src/catalog/route-choice.ts";
import { createRouteScores } from "../../src/gateway/calls/route-scores.ts";

/** A route as the simulation sees it. */
export interface SimulatedRoute {
  readonly provider: string;
  readonly priority: number;
  /** How long an answer takes to begin while there is room, at this second. */
  msAt(second: number): number;
  /** Calls at once from which on answers take longer. */
  readonly room: number;
  /** US dollars for a million tokens. */
  readonly price: number;
}

/** What came of a run. */
export interface SimulatedResult {
  readonly choice: RouteChoice;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** US dollars for a thousand requests of 1,000 tokens. */
  readonly cost: number;
  /** The share of requests that each provider got. */
  readonly shares: Readonly<Record<string, number>>;
  /** How often the first route was another one than before, those apart that were only measured. */
  readonly changes: number;
}

export interface SimulationOptions {
  readonly routes: readonly SimulatedRoute[];
  readonly seconds: number;
  readonly perSecond: number;
}

/** The same numbers in every run. */
function seeded(): () => number {
  let state = 12_345;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state / 2 ** 32;
  };
}

/** Runs it. */
export function simulate(choice: RouteChoice, { routes, seconds, perSecond }: SimulationOptions): SimulatedResult {
  let nowMs = 0;
  const random = seeded();
  const scores = createRouteScores({ now: () => nowMs, random });
  const byName = new Map(routes.map((route) => [route.provider, route]));
  const plain = routes.map(({ provider, priority }): ModelRoute => ({ provider, model: "m", priority, weight: 1 }));
  const offered = chosenBy(choice, plain, ({ provider }) => {
    const price = byName.get(provider)?.price ?? 0;
    return { input: price, output: price };
  });
  const running = new Map<string, number>();
  const ends: { readonly atMs: number; end(): void }[] = [];
  const taken = new Map<string, number>();
  const latencies: number[] = [];
  let cost = 0;
  let changes = 0;
  let before: string | undefined;
  for (let n = 0; n < seconds * perSecond; n++) {
    const arrivesMs = (n * 1000) / perSecond;
    ends.sort((a, b) => a.atMs - b.atMs);
    for (let next = ends[0]; next !== undefined && next.atMs <= arrivesMs; next = ends[0]) {
      nowMs = next.atMs;
      ends.shift()?.end();
    }
    nowMs = arrivesMs;
    const { routes: ordered, why } = scores.order(offered, true);
    const route = ordered[0]!;
    const { provider } = route;
    if (!why.includes("measured")) {
      if (before !== undefined && before !== provider) changes++;
      before = provider;
    }
    const simulated = byName.get(provider)!;
    const load = (running.get(provider) ?? 0) + 1;
    running.set(provider, load);
    taken.set(provider, (taken.get(provider) ?? 0) + 1);
    const noise = Math.exp(0.3 * (random() + random() + random() - 1.5));
    const ms = simulated.msAt(nowMs / 1000) * noise * Math.max(1, load / simulated.room);
    latencies.push(ms);
    cost += simulated.price / 1000;
    const ended = scores.begun(route);
    ends.push({
      atMs: nowMs + ms,
      end() {
        ended();
        running.set(provider, (running.get(provider) ?? 1) - 1);
        if (choice === "latency") scores.answered(route, true, ms);
      },
    });
  }
  latencies.sort((a, b) => a - b);
  const at = (share: number) => Math.round(latencies[Math.floor(latencies.length * share)] ?? 0);
  const count = latencies.length;
  return {
    choice,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    cost: Math.round((cost / count) * 1000 * 100) / 100,
    shares: Object.fromEntries([...taken].map(([name, n]) => [name, Math.round((100 * n) / count) / 100])),
    changes,
  };
}

const steady = (ms: number) => () => ms;

/** What happens to the routes. */
export const SCENES: Readonly<Record<string, SimulationOptions>> = {
  "the first route is slow for five of twenty minutes": {
    seconds: 1200,
    perSecond: 10,
    routes: [
      { provider: "a", priority: 1, msAt: (s) => (s > 300 && s < 600 ? 3000 : 300), room: 100, price: 3 },
      { provider: "b", priority: 2, msAt: steady(500), room: 100, price: 2 },
    ],
  },
  "three routes of about the same speed": {
    seconds: 1200,
    perSecond: 10,
    routes: ["a", "b", "c"].map((provider, at) => ({
      ...{ provider, priority: 1, room: 100, price: 3 - at },
      msAt: steady(400 + 10 * at),
    })),
  },
  "more requests than one route has room for": {
    seconds: 300,
    perSecond: 40,
    routes: ["a", "b", "c"].map((provider, at) => ({
      ...{ provider, priority: at + 1, room: 8, price: 1 + at },
      msAt: steady(400),
    })),
  },
};
