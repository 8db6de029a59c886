// A text model's bias for positions and words, corrected by its answer to a question without a state.

import { expect, test } from "bun:test";
import {
  answerOf,
  consistentUpstream,
  isStateless,
  SPEC,
  totalVariation,
  truthOf,
  worthsOf,
} from "../../scripts/decisions/consistent.ts";
import { FakeClock } from "../../src/base/clock.ts";
import { ApiError } from "../../src/base/errors.ts";
import type { ChatResult } from "../../src/chat/result.ts";
import type { Upstream } from "../../src/decisions/backends/backend.ts";
import { logprobs } from "../../src/decisions/backends/logprobs.ts";
import { Priors, type PriorsDeps } from "../../src/decisions/backends/prior.ts";
import { seeded } from "../../src/decisions/calibration/metrics.ts";
import { massReason, probeEngine } from "../../src/decisions/models/engine-probe.ts";
import { clientGone } from "../../src/gateway/calls/request-deadline.ts";

/** The model prefers both ends of the list. Asking in two orders does not cancel this. */
const ends = (at: number, count: number) => (at === 0 || at === count - 1 ? 1.5 : 0);
const FREED = { ...SPEC, prior: "content_free" as const };

test.each([2, 3, 5, 8])("a position bias of %p options", async (count) => {
  const worths = worthsOf(count, 1, seeded(count));
  const habits = { worths, none: { worth: 0 }, gain: ends };
  const plain = await answerOf(habits);
  if (count > 2) expect(totalVariation(truthOf(worths), plain.probabilities)).toBeGreaterThan(0.05);
  const { probabilities } = await answerOf(habits, FREED);
  expect(totalVariation(truthOf(worths), probabilities)).toBeLessThan(1e-6);
});

test("a bias for words", async () => {
  const worths = worthsOf(4, 1, seeded(9));
  const liked = new Map([...worths.keys()].map((name, at) => [name, at]));
  const both = new Map([...worths].map(([name, worth]) => [name, worth + liked.get(name)!]));
  const { probabilities } = await answerOf({ worths: both, none: { worth: 0 }, stateless: liked }, FREED);
  expect(totalVariation(truthOf(worths), probabilities)).toBeLessThan(1e-6);
});

/** A store in memory, and the number of reads and writes. */
function memoryStore() {
  const rows = new Map<string, readonly (readonly number[])[]>();
  const asked = { reads: 0, writes: 0 };
  const store: PriorsDeps["store"] = {
    async decisionPrior(key) {
      asked.reads += 1;
      return rows.get(key);
    },
    async keepDecisionPrior(key, prior) {
      asked.writes += 1;
      if (!rows.has(key)) rows.set(key, prior);
      return rows.get(key)!;
    },
  };
  return { store, asked };
}

const clock = new FakeClock();
const habits = { worths: worthsOf(4, 1, seeded(10)), none: { worth: 0 }, gain: ends };

test("a prior is made once for each model and question, and again for none of the later runs", async () => {
  const { store, asked } = memoryStore();
  const first = new Priors({ clock, store });
  const calls = async (priors: Priors, path = "") => {
    const spec = { ...FREED, routes: [{ ...SPEC.routes[0]!, path }] };
    return (await answerOf(habits, spec, priors)).calls;
  };
  expect(await Promise.all([calls(first), calls(first), calls(first)])).toEqual([4, 2, 2]);
  expect([await calls(first), await calls(first, "/other")]).toEqual([2, 4]);
  const later = new Priors({ clock, store });
  expect([await calls(later), await calls(later), await calls(later, "/other")]).toEqual([2, 2, 2]);
  // Each program reads a question's prior once.
  expect(asked).toEqual({ reads: 4, writes: 2 });
});

test("a store that fails costs a decision nothing but the calls", async () => {
  const broken = () => Promise.reject(new Error("The database is away."));
  const warned: string[] = [];
  const priors = new Priors({
    clock,
    store: { decisionPrior: broken, keepDecisionPrior: broken },
    warn: (message) => warned.push(message),
  });
  const { probabilities, calls } = await answerOf(habits, FREED, priors);
  expect([calls, warned.length]).toEqual([4, 2]);
  expect(totalVariation(truthOf(habits.worths), probabilities)).toBeLessThan(1e-6);
  expect((await answerOf(habits, FREED, priors)).calls).toBe(2);
});

test("one whose maker leaves is made by the next that waits for it, for all others", async () => {
  const priors = new Priors({ clock });
  const leaving = Promise.withResolvers<never>();
  const first = priors.of("k", () => leaving.promise);
  let made = 0;
  const make = async () => [[-++made]];
  const others = [1, 2, 3].map(() => priors.of("k", make));
  leaving.reject(new Error("The client left."));
  expect(first).rejects.toThrow("left");
  expect(await Promise.all(others)).toEqual([[[-1]], [[-1]], [[-1]]]);
});

test.each<[string, ApiError, number | undefined]>([
  ["a client that left", clientGone(), -1],
  ["a provider that failed", new ApiError("provider_timeout", "Late."), undefined],
])("%s: whether the question has a prior with the next request", async (_name, error, expected) => {
  const priors = new Priors({ clock });
  priors.failed("k", error);
  expect((await priors.of("k", async () => [[-1]]))?.[0]?.[0]).toBe(expected);
});

const options = [...habits.worths.keys()].map((label) => ({ label, criterion: null }));
const questions = ["a", "b"].map((key) => ({ key, type: "choice" as const, instructions: key, options }));

test("the calls that make a prior are a part of what the request spent", async () => {
  const priors = new Priors({ clock });
  const ask = async () => {
    const { upstream } = consistentUpstream(habits);
    const { spent, prior } = await logprobs.answer({ state: "s", questions, spec: FREED, priors }, upstream);
    return [prior?.calls, spent?.inputTokens];
  };
  expect([await ask(), await ask()]).toEqual([
    [4, 800],
    [0, 400],
  ]);
});

test("a probe of the engine makes none", async () => {
  const { upstream } = consistentUpstream(habits);
  const letters = Array.from({ length: 20 }, (_, at) => ({ token: String.fromCharCode(65 + at), logprob: -3 }));
  const block = { type: "text", text: "A", logprobs: [{ ...letters[0], top_logprobs: letters }] };
  const result = { choices: [{ index: 0, blocks: [block] }] } as unknown as ChatResult;
  const stateless: boolean[] = [];
  const chat: Upstream["chat"] = async (requestFor, read) => {
    stateless.push(isStateless(requestFor(SPEC.routes[0]!)));
    return read({ result, route: SPEC.routes[0]! });
  };
  expect(await probeEngine(FREED, { ...upstream, chat })).toBe(massReason(0.0995));
  expect(stateless).toEqual([false]);
});

test("a prior that does not come delays neither its question nor the next one", async () => {
  const { upstream } = consistentUpstream(habits);
  let hung = 0;
  const hanging: Upstream = {
    ...upstream,
    chat: (requestFor, read, options) => {
      if (!isStateless(requestFor(SPEC.routes[0]!))) return upstream.chat(requestFor, read, options);
      hung += 1;
      return new Promise(() => {});
    },
  };
  const priors = new Priors({ clock, patienceMs: 1 });
  const task = { state: "A state.", questions, spec: { ...FREED, concurrency: 1 }, priors };
  const { readings, prior, spent } = await logprobs.answer(task, hanging);
  expect(readings).toHaveLength(2);
  // The call that was given up is counted too: a prompt of an unstated number of tokens beside four of a hundred.
  expect(spent?.inputTokens).toBeGreaterThan(420);
  // Only the first question waited for it.
  expect([prior, hung]).toEqual([{ calls: 1, missing: 2, grouped: 0 }, 1]);
});
