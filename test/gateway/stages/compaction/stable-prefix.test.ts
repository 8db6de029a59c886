// Between two compactions each request begins exactly with the one before, whatever the model reports meanwhile: what is kept, cut
// and left out belongs to the compaction and is decided once.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { type FakeUpstream, startUpstream } from "../../../support/upstream.ts";
import { hasThinking, type Message, messagesOf, prefixOf, refusalOf, THINKING } from "./bound-upstream.ts";
import { conversation, elementsOf, FORMAT_NAMES, newCompactor, type Step } from "./fixture.ts";
import { bodyOf, PATHS, Talker, tightUpstream } from "./tight-upstream.ts";

const WINDOW = 8000;
const TURNS = 60;
let upstream: FakeUpstream;
let app: TestApp;
beforeAll(async () => {
  upstream = startUpstream();
  app = await startTestApp({
    config: {
      providers: { claude: { kind: "anthropic", base_url: upstream.baseUrl, api_key: "k", discover: false } },
      models: [
        {
          id: "m",
          context_length: WINDOW,
          supports_reasoning: true,
          routes: [{ provider: "claude", model: "claude-opus-5-5" }],
        },
      ],
      tiers: { premium: { rpm: 1_000_000 } },
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const text = (message: Message | undefined) => JSON.stringify(message?.content);
/** A first message of this share of the window. */
const table = FORMAT_NAMES.flatMap((format) => [0.02, 0.19, 0.4].map((share) => [format, share] as const));

test.each(table)("%s: %i turns after a first message of %p of the window", async (format, share) => {
  const task = `The task: ${"please do as was said ".repeat((WINDOW * share * 4) / 22)} and keep to it.`;
  let refusals = 0;
  let thoughts = 0;
  const { seen, script } = tightUpstream({
    window: WINDOW,
    say: (received, turn) => {
      const messages = messagesOf(received);
      if (messages.some(hasThinking)) thoughts++;
      // The reports move, so that the model's ratio moves too.
      const input = Math.ceil((received.text.length / 4) * (turn % 4 === 0 ? 1.3 : turn % 4 === 1 ? 0.8 : 1));
      return {
        usage: { input, output: 5 },
        reasoning: { text: `thought ${turn}`, signature: `sig-${prefixOf(received, messages.length)}` },
        text: `answer ${turn}: ${"as was said ".repeat(48)}`,
      };
    },
  });
  upstream.answer((received) => {
    const refusal = refusalOf(received);
    if (refusal === undefined) return script(received);
    refusals++;
    return refusal;
  });
  const talker = new Talker(format);
  for (let turn = 1; turn <= TURNS; turn++) {
    talker.speak(turn === 1 ? task : `Go on with ${turn}. ${"so it is ".repeat(64)}`, "");
    const more = { thread_id: `stable-${format}-${share}`, stream: turn % 3 === 0, ...THINKING[format] };
    const answer = await app.post(PATHS[format], bodyOf(format, "m", talker.list, more));
    const said = await answer.text();
    expect([turn, answer.status, said]).toEqual([turn, 200, expect.any(String)]);
    talker.hear(said);
  }
  const sent = seen.turns.map(messagesOf);
  expect(sent.filter(([first]) => !text(first).includes(task))).toEqual([]);
  const changes = sent.filter((now, at) => {
    const before = sent[at - 1]?.slice(0, -1) ?? [];
    return !Bun.deepEquals(now.slice(0, before.length), before);
  });
  expect(seen.summaries.length).toBeGreaterThan(1);
  expect(changes.length).toBeLessThanOrEqual(seen.summaries.length);
  expect(refusals).toBe(0);
  expect(seen.refusals).toBe(0);
  // Thinking after a compaction goes up again.
  expect(thoughts).toBeGreaterThan(TURNS / 3);
});

describe.each(FORMAT_NAMES)("%s", (name) => {
  test("long results in the tail are cut once", async () => {
    const compactor = newCompactor();
    const long = (n: number): Step => ({
      kind: "tools",
      calls: [{ id: `c${n}`, name: "read", args: "f", result: `result ${n} ${"line of it ".repeat(2500)}` }],
    });
    const steps: Step[] = [{ kind: "user", text: "task" }, long(1), long(2)];
    const say = (list: readonly Step[]) => compactor.shorten(conversation(name, elementsOf(name, list)));
    const first = await say(steps);
    expect(JSON.stringify(first?.list)).toContain("characters were left out");
    let before = first?.list ?? [];
    for (const share of [1, 0.1, 1.02]) {
      const counted = first?.counted ?? 0;
      compactor.tokens.learn({ accountId: "acc", model: "m" }, counted * share, counted);
      steps.push({ kind: "assistant", text: "ok" }, { kind: "user", text: "on" });
      const now = await say(steps);
      expect(now?.list.slice(0, before.length)).toEqual([...before]);
      before = now?.list ?? [];
    }
    expect(before.length).toBeGreaterThan(first?.list.length ?? 0);
  });
});
