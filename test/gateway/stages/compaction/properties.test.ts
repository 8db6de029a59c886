// Properties of every compaction of every conversation, in each client format.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Element } from "../../../../src/chat/entries.ts";
import {
  conversation,
  elementsOf,
  FORMAT_NAMES,
  FORMATS,
  factKeeper,
  idsOf,
  newCompactor,
  type Step,
} from "./fixture.ts";

const words = (most: number) =>
  fc.integer({ min: 1, max: most }).map((count) => Array.from({ length: count }, (_, i) => `word${i % 90}`).join(" "));

const calls = fc
  .array(fc.record({ name: fc.constantFrom("read", "grep", "run"), args: words(10), result: words(400) }), {
    minLength: 1,
    maxLength: 3,
  })
  .map((list) => ({ kind: "tools" as const, list }));

/** Steps in which every text and call has its own number. */
const steps = fc
  .array(
    fc.oneof(
      words(60).map((text) => ({ kind: "user" as const, text })),
      words(200).map((text) => ({ kind: "assistant" as const, text })),
      calls,
    ),
    {
      minLength: 1,
      maxLength: 40,
    },
  )
  .map((list): Step[] => [
    { kind: "user", text: "begin" },
    ...list.map((step, n): Step => {
      if (step.kind !== "tools") return { kind: step.kind, text: `no. ${n}: ${step.text}` };
      return {
        kind: "tools",
        calls: step.list.map((call, i) => ({ ...call, id: `call_${n}_${i}`, result: `no. ${n}: ${call.result}` })),
      };
    }),
    { kind: "user", text: "go on" },
  ]);

describe.each(FORMAT_NAMES)("%s", (name) => {
  const format = FORMATS[name];

  test("pairs stay together, order is kept, and it fits", async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(3000, 5000, 9000), async (made, window) => {
        const list = elementsOf(name, made);
        const compactor = newCompactor();
        const given = conversation(name, list, { window });
        const short = await compactor.shorten(given);
        if (short === undefined) return;
        expect(short.after).toBeLessThanOrEqual(given.space.limit);
        const { calls, results } = idsOf(short.list, format);
        expect([...results].sort()).toEqual([...calls].sort());
        // Each result comes after its call: the elements keep the order of the client's list.
        expect(orderOf(short.list, list, name)).toEqual(orderOf(short.list, list, name).toSorted((a, b) => a - b));
        // The last element is the client's own.
        expect(short.list.at(-1)).toEqual(list.at(-1)!);
        // A list that fits is not changed.
        expect(await compactor.shorten({ ...given, list: short.list })).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  test("between two compactions each request begins with the one before", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (made) => {
        const compactor = newCompactor();
        let before: readonly Element[] = [];
        const seen: string[] = [];
        for (let end = 1; end <= made.length; end++) {
          const given = conversation(name, elementsOf(name, made.slice(0, end)));
          const short = await compactor.shorten(given);
          await compactor.idle();
          const now = short?.list ?? given.list;
          seen.push(short?.action ?? "none");
          if (short === undefined || short.action === "reused") {
            const isStable = now.slice(0, before.length).every((element, i) => Bun.deepEquals(element, before[i]));
            // The list may change when the prepared compaction is used for the first time. Afterwards it must stay the same.
            if (seen.at(-2) === "reused" || short === undefined) expect(isStable).toBe(true);
          }
          before = now;
        }
        expect(compactor.failures).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  test("a failing summariser never fails the conversation", async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom("throws", "cut", "empty", "long"), async (made, how) => {
        const compactor = newCompactor();
        const ask = async () => {
          if (how === "throws") throw new Error("down");
          return {
            text: how === "empty" ? "" : how === "long" ? "word ".repeat(4000) : "cut of",
            whole: how !== "cut",
          };
        };
        const given = conversation(name, elementsOf(name, made), { work: { ask, window: 4000 } });
        const short = await compactor.shorten(given);
        if (short === undefined) return;
        expect(short.after).toBeLessThanOrEqual(given.space.limit);
        expect(["cleared", "truncated"]).toContain(short.action);
      }),
      { numRuns: 30 },
    );
  });
});

/** The positions of the kept elements in the client's list. */
function orderOf(short: readonly Element[], list: readonly Element[], name: (typeof FORMAT_NAMES)[number]): number[] {
  const key = (element: Element) => {
    const { pieces } = FORMATS[name].entry(element);
    return pieces
      .map((piece) => ("id" in piece ? `${piece.type} ${piece.id}` : piece.type === "text" ? piece.text : piece.type))
      .join("|");
  };
  const places = new Map(list.map((element, at) => [key(element), at]));
  return short.flatMap((element) => places.get(key(element)) ?? []);
}

test("two simultaneous requests of one conversation share one summary", async () => {
  const keeper = factKeeper();
  const compactor = newCompactor();
  const made: Step[] = Array.from({ length: 60 }, (_, n) => ({
    kind: n % 2 === 0 ? "user" : "assistant",
    text: `fact-${n} is v${n}. ${"and so on ".repeat(60)}`,
  }));
  const given = conversation("openai-chat", elementsOf("openai-chat", made), {
    work: { ask: keeper.ask, window: 4000 },
  });
  const [one, two] = await Promise.all([compactor.shorten(given), compactor.shorten(given)]);
  expect(JSON.stringify(one?.list)).toBe(JSON.stringify(two?.list));
  const alone = newCompactor();
  const again = factKeeper();
  await alone.shorten({ ...given, work: { ask: again.ask, window: 4000 } });
  expect(keeper.prompts.length).toBe(again.prompts.length);
});
