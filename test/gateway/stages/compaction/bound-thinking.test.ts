// An upstream that binds its thinking to the preceding history, as Anthropic's does: a block after a changed prefix is a 400.
// Shortened conversations never cause that, whatever format the client uses.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { type FakeUpstream, startUpstream } from "../../../support/upstream.ts";
import { hasThinking, messagesOf, prefixOf, refusalOf, THINKING } from "./bound-upstream.ts";
import { FORMAT_NAMES } from "./fixture.ts";
import { bodyOf, PATHS, Talker, tightUpstream } from "./tight-upstream.ts";

const WINDOW = 5000;
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
          max_output_tokens: 3000,
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

test.each(FORMAT_NAMES)(
  "a shortened conversation keeps thinking that is bound to what precedes it: %s",
  async (format) => {
    let refusals = 0;
    let thoughts = 0;
    const { seen, script } = tightUpstream({
      window: WINDOW,
      say: (received, turn) => {
        const messages = messagesOf(received);
        if (messages.some(hasThinking)) thoughts++;
        const reasoning = { text: `thought ${turn}`, signature: `sig-${prefixOf(received, messages.length)}` };
        return turn % 2 === 1
          ? {
              reasoning,
              text: "I look.",
              calls: [{ id: `call_${format.length}${turn}`, name: "look", args: { file: `f${turn}` } }],
            }
          : { reasoning, text: `answer ${turn}: ${"as was said ".repeat(8)}` };
      },
    });
    upstream.answer((received) => {
      const refusal = refusalOf(received);
      if (refusal === undefined) return script(received);
      refusals++;
      return refusal;
    });
    const talker = new Talker(format);
    const actions = new Set<string>();
    for (let turn = 1; turn <= 120; turn++) {
      talker.speak(`Go on with ${turn}.`, `line ${turn} `.repeat(60));
      const more = { thread_id: `bound-${format}`, stream: turn % 3 === 0, ...THINKING[format] };
      const answer = await app.post(PATHS[format], bodyOf(format, "m", talker.list, more));
      const text = await answer.text();
      expect([turn, answer.status, text]).toEqual([turn, 200, expect.any(String)]);
      talker.hear(text);
      actions.add(answer.headers.get("x-sallyport-compaction")?.split(";")[0] ?? "none");
    }
    expect(refusals).toBe(0);
    expect(seen.refusals).toBe(0);
    expect([...actions]).toContain("reused");
    // Thinking continues after a compaction and is then bound to the shortened history.
    expect(thoughts).toBeGreaterThan(60);
  },
);
