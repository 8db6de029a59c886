// An upstream that binds its thinking to the preceding history, as Anthropic's does: a block after a changed prefix is a 400.
// Shortened conversations never cause that, whatever format the client uses.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { type FakeUpstream, type Received, startUpstream } from "../../support/upstream.ts";
import { FORMAT_NAMES } from "./fixture.ts";
import { bodyOf, PATHS, Talker, tightUpstream } from "./tight-upstream.ts";

type Block = Record<string, unknown>;
type Message = { role: string; content: string | Block[] };

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

/** What a block is bound to: instructions, tools and all messages before it. Cache marks do not count. */
function prefixOf({ json = {} }: Received, count: number): string {
  const messages = ((json["messages"] ?? []) as Message[]).slice(0, count);
  const text = JSON.stringify([json["system"], json["tools"], messages], (name, value) =>
    name === "cache_control" ? undefined : (value as unknown),
  );
  return Bun.hash(text).toString(36);
}

/** The index of the first message whose thinking was produced after a different history. */
function misplaced(received: Received): number {
  return ((received.json?.["messages"] ?? []) as Message[]).findIndex(
    ({ content }, at) =>
      Array.isArray(content) &&
      content.some(({ type, signature }) => type === "thinking" && signature !== `sig-${prefixOf(received, at)}`),
  );
}

test.each(FORMAT_NAMES)("%s", async (format) => {
  let refusals = 0;
  let thoughts = 0;
  const { seen, script } = tightUpstream({
    window: WINDOW,
    say: (received, turn) => {
      const messages = (received.json?.["messages"] ?? []) as Message[];
      thoughts += messages.some(
        ({ content }) => Array.isArray(content) && content.some(({ type }) => type === "thinking"),
      )
        ? 1
        : 0;
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
    const at = misplaced(received);
    if (at < 0) return script(received);
    refusals++;
    const message = `messages.${at}.content.0: Invalid signature in thinking block: it is bound to a different conversation`;
    return Response.json({ type: "error", error: { type: "invalid_request_error", message } }, { status: 400 });
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
});

const THINKING = {
  "openai-chat": { reasoning_effort: "low" },
  "openai-responses": { reasoning: { effort: "low" } },
  "anthropic-messages": { thinking: { type: "adaptive" } },
} as const;
