// `context_management` over upstreams without it: conversations of hundreds of turns that never exceed the window, for
// clients that drop what precedes the newest record and for those that send everything.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Element } from "../../../../src/chat/entries.ts";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { type FakeUpstream, startUpstream } from "../../../support/upstream.ts";
import { editingConfig } from "./editing-fixture.ts";
import { bodyOf, lookingModel, PATHS, Talker, tightUpstream } from "./tight-upstream.ts";

const WINDOW = 6000;
const THRESHOLD = 3000;
const TURNS = 220;

let upstream: FakeUpstream;
let app: TestApp;
beforeAll(async () => {
  upstream = startUpstream();
  app = await startTestApp({ config: editingConfig(upstream.baseUrl, WINDOW) });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** The `context_management` parameter of each client. */
const WISHES = {
  "openai-responses": { context_management: [{ type: "compaction", compact_threshold: THRESHOLD }] },
  "anthropic-messages": {
    context_management: {
      edits: [
        { type: "clear_thinking_20251015", keep: { type: "thinking_turns", value: 2 } },
        {
          type: "clear_tool_uses_20250919",
          trigger: { type: "input_tokens", value: 2000 },
          clear_at_least: { type: "input_tokens", value: 200 },
        },
        { type: "compact_20260112", trigger: { type: "input_tokens", value: THRESHOLD } },
      ],
    },
  },
} as const;

/** The position of the newest record in a list. */
function recordAt(list: readonly Element[]): number {
  return list.findLastIndex(
    ({ type, content }) =>
      type === "compaction" ||
      (Array.isArray(content) && content.some((block: Element) => block["type"] === "compaction")),
  );
}

const OVER = {
  "openai-responses": ["openai-chat", "anthropic-messages", "gemini", "plain-responses"],
  "anthropic-messages": ["openai-chat", "openai-responses", "gemini", "plain-messages"],
} as const;
const table = (["openai-responses", "anthropic-messages"] as const).flatMap((format) =>
  OVER[format].flatMap((model) =>
    (["leaves out what is before", "sends all of it"] as const).map((habit) => [format, model, habit] as const),
  ),
);

test.each(table)(
  "%s over %s; the client %s",
  async (format, model, habit) => {
    const { seen, script } = tightUpstream({ window: WINDOW, say: lookingModel() });
    upstream.answer(script);
    const talker = new Talker(format);
    const said = new Set<string>();
    let records = 0;
    for (let turn = 1; turn <= TURNS; turn++) {
      const fact = turn % 10 === 0 ? `Remember that fact-${turn} is v${turn}x. ` : "";
      talker.speak(
        `${fact}Please go on with part ${turn} (${model}, ${habit}).`,
        `line of the file ${turn} `.repeat(30),
      );
      for (const one of JSON.stringify(talker.list.at(-1)).match(/fact-\d+ is v\d+x/g) ?? []) said.add(one);
      const stream = turn % 2 === 0;
      const before = talker.list.length;
      const answer = await app.post(PATHS[format], bodyOf(format, model, talker.list, { ...WISHES[format], stream }));
      const text = await answer.text();
      expect([answer.status, text.slice(0, 300)]).toEqual([200, expect.anything()]);
      expect(answer.headers.get("x-sallyport-dropped")).toBeNull();
      talker.hear(text);
      const at = recordAt(talker.list);
      if (at >= before) {
        records++;
        if (habit === "leaves out what is before") talker.list.splice(0, at);
      }
    }
    // The upstream never gets more than the client's threshold, except for what must stay, and never gets the client's parameter.
    expect(seen.refusals).toBe(0);
    expect(seen.turns).toHaveLength(TURNS);
    for (const { text } of seen.turns) {
      expect(text.length / 4).toBeLessThan(THRESHOLD * 1.2);
      expect(text).not.toContain("context_management");
      expect(text).not.toContain('"compaction"');
      expect(text).not.toContain("sallyport.c1.");
    }
    // There are few records, and each except the first one continues the one before. Previously cleared results are still read
    // for the record, which may take two calls in such a small window.
    expect(records).toBeGreaterThanOrEqual(3);
    const calls = seen.summaries.length;
    expect(calls).toBeGreaterThanOrEqual(records);
    expect(calls).toBeLessThanOrEqual(format === "openai-responses" ? records : records * 2);
    expect(seen.summaries.filter((text) => text.includes("The record so far"))).toHaveLength(calls - 1);
    expect(records).toBeLessThan(TURNS / 8);
    expect(said.size).toBeGreaterThan(TURNS / 20);
    const last = seen.turns.at(-1)?.text ?? "";
    expect([...said].filter((fact) => !last.includes(fact))).toEqual([]);
  },
  60_000,
);
