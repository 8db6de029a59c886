import { expect, test } from "bun:test";
import type { Clock } from "../../../../src/base/clock.ts";
import type { ChatMessage } from "../../../../src/chat/request.ts";
import { CallReasoning } from "../../../../src/gateway/stages/reasoning/call-reasoning.ts";
import { historyReader } from "../../../../src/gateway/stages/reasoning/open-history.ts";
import { ReasoningMemory } from "../../../../src/gateway/stages/reasoning/reasoning-memory.ts";
import type { Provider } from "../../../../src/upstream/provider.ts";

const thought = (text: string) => ({ parts: [{ type: "reasoning" as const, text }], seals: new Map() });

test("the reasoning of an answer is found by each of its calls, for its own account, until it expires", () => {
  const held = new CallReasoning({ keptMs: 100 });
  held.keep("a", ["c1", "c2"], thought("x"), 0);
  expect(held.find("a", "c1", 99)).toEqual(thought("x"));
  expect(held.find("a", "c2", 99)).toEqual(thought("x"));
  expect(held.find("b", "c1", 0)).toBeUndefined();
  expect(held.find("a", "c1", 100)).toBeUndefined();
  expect(held.size).toEqual({ entries: 0, bytes: 0 });
});

test("whether an account has any is known without a name", () => {
  const held = new CallReasoning({ keptMs: 100 });
  held.keep("a", ["c1"], thought("x"), 0);
  expect([held.has("a"), held.has("b")]).toEqual([true, false]);
  held.find("a", "c1", 100);
  expect(held.has("a")).toBe(false);
});

test("the messages of an account that has no reasoning stored are not read for the names of its calls", () => {
  const reasoning = new ReasoningMemory();
  const provider = {
    name: "p",
    minter: "p",
    quirks: {},
    dialect: { name: "openai-chat" },
    card: {},
  } as unknown as Provider;
  let reads = 0;
  const messages = new Proxy<ChatMessage[]>([], {
    get(list, name, receiver) {
      reads++;
      return Reflect.get(list, name, receiver);
    },
  });
  const reader = historyReader(provider, "m", {
    reasoning,
    clock: { now: () => 0 } as Clock,
    accountId: "a",
    messages,
  });
  expect([reader.thoughtOf("functions.look:0"), reads]).toEqual([undefined, 0]);
  reasoning.calls.keep("a", ["functions.look:0"], thought("x"), 0);
  expect(reader.thoughtOf("functions.look:0")).toEqual(thought("x"));
  expect(reads).toBeGreaterThan(0);
});

test("expired reasoning is removed without a request for it", () => {
  const held = new CallReasoning({ keptMs: 100 });
  for (const account of ["a", "b"]) for (const call of ["c1", "c2"]) held.keep(account, [call], thought("x"), 0);
  held.keep("b", ["c3"], thought("x"), 200);
  expect(held.size.entries).toBe(1);
  expect(held.find("b", "c3", 200)).toBeDefined();
});

test("a repeated call id refers to its latest answer", () => {
  const held = new CallReasoning();
  held.keep("a", ["c1"], thought("old"), 0);
  held.keep("a", ["c1"], thought("new"), 0);
  expect(held.find("a", "c1", 0)).toEqual(thought("new"));
  expect(held.size.entries).toBe(1);
});

test("an account that fills its share loses its own oldest, not another's", () => {
  const held = new CallReasoning({ accountEntries: 3, accountBytes: 20_000 });
  held.keep("quiet", ["c"], thought("x"), 0);
  for (let i = 0; i < 10; i++) held.keep("loud", [`c${i}`], thought("x"), 0);
  expect([5, 6, 7, 8, 9].map((i) => held.find("loud", `c${i}`, 0) !== undefined)).toEqual([
    false,
    false,
    true,
    true,
    true,
  ]);
  held.keep("loud", ["big"], thought("x".repeat(8000)), 0);
  expect(held.find("loud", "big", 0)).toBeDefined();
  expect(held.find("loud", "c8", 0)).toBeDefined();
  held.keep("loud", ["huge"], thought("x".repeat(20_000)), 0);
  expect(held.find("loud", "huge", 0)).toBeUndefined();
  expect(held.find("quiet", "c", 0)).toBeDefined();
});

test("when the memory is full, the account that was inactive longest loses its oldest entry", () => {
  const held = new CallReasoning({ entries: 4 });
  for (const account of ["a", "b", "c", "d", "e"]) held.keep(account, ["c1"], thought("x"), 0);
  expect(held.find("a", "c1", 0)).toBeUndefined();
  expect(held.find("b", "c1", 0)).toBeDefined();
  const bytes = new CallReasoning({ bytes: 10_000 });
  for (let i = 0; i < 100; i++) bytes.keep(`account ${i}`, ["c1"], thought("x".repeat(1000)), 0);
  expect(bytes.size.bytes).toBeLessThanOrEqual(10_000);
  expect(bytes.find("account 99", "c1", 0)).toBeDefined();
});
