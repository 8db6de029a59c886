// A body of megabytes is relayed like a small one: with the same edits, and with all else as the client wrote it.

import { afterAll, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { startUpstream } from "../support/upstream.ts";

const upstream = startUpstream(() =>
  Response.json({ error: { message: "Not today.", code: 400, status: "INVALID_ARGUMENT" } }, { status: 400 }),
);
const KINDS = { chat: "openai", messages: "anthropic", responses: "openai-responses", gemini: "gemini" };
const app = await startTestApp({
  tier: "premium",
  config: {
    providers: Object.fromEntries(
      Object.values(KINDS).map((kind) => [
        kind,
        { kind, base_url: upstream.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } },
      ]),
    ),
    models: Object.values(KINDS).map((kind) => ({
      id: `of-${kind}`,
      context_length: 100_000_000,
      routes: [{ provider: kind, model: "theirs" }],
    })),
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

/** Unusual ways to write JSON, which no program that parses and writes it would keep. */
const ODD = '"a \\u0041 \\/ é 😀", "x": 1.50, "y" : 1e2';
const TEXT = "word ".repeat(100);

/** The beginning of a body, an element of its list, and the end. */
const BODIES: Readonly<Record<keyof typeof KINDS, { path: string; start: string; element: string; end: string }>> = {
  chat: {
    path: "/v1/chat/completions",
    start: `{"model":"of-openai","stream":true, "messages" : [`,
    element: `{"role":"user","content":"${TEXT}","name":${ODD}}`,
    end: `],"user":${ODD}}`,
  },
  messages: {
    path: "/v1/messages",
    start: `{"max_tokens":10,"messages":[`,
    element: `{"role":"user","content":[{"type":"text","text":"${TEXT}","z":${ODD}}]}`,
    end: `], "model":"of-anthropic"}`,
  },
  responses: {
    path: "/v1/responses",
    start: `{"model":"of-openai-responses","store":false,"input":[`,
    element: `{"role":"user","content":"${TEXT}","z":${ODD}}`,
    end: `],"user":${ODD}}`,
  },
  gemini: {
    path: "/v1beta/generateContent",
    start: `{"contents":[`,
    element: `{"role":"user","parts":[{"text":"${TEXT}","z":${ODD}}]}`,
    end: `],"model":"of-gemini","labels":{"a":${ODD}}}`,
  },
};

async function relayed(path: string, body: string | Buffer<ArrayBuffer>): Promise<string> {
  const before = upstream.received.length;
  const answer = await app.call(path, { method: "POST", headers: { "content-type": "application/json" }, body });
  const said = await answer.text();
  if (upstream.received.length === before) throw new Error(said);
  expect([answer.status, upstream.received.length]).toEqual([400, before + 1]);
  return upstream.received[before]?.text ?? "";
}

test.each(Object.entries(BODIES))("%s: what is long stays as it is", async (_, { path, start, element, end }) => {
  const short = await relayed(path, start + element + end);
  const list = Array(2000).fill(element).join(", ");
  const long = await relayed(path, start + list + end);
  expect(short).toContain(element);
  expect(short).not.toBe(start + element + end);
  expect(long === short.replace(element, () => list)).toBe(true);
});

const { path, start, element, end } = BODIES.chat;

test("one long text stays as it is", async () => {
  const text = "\\u0041 é 😀 \\/".repeat(60_000);
  const short = await relayed(path, `${start}{"role":"user","content":"x"}${end}`);
  const long = await relayed(path, `${start}{"role":"user","content":"${text}"}${end}`);
  expect(long === short.replace('"x"', () => `"${text}"`)).toBe(true);
});

test.each([
  ["a byte order mark is left out", Buffer.from([0xef, 0xbb, 0xbf]), Buffer.of(), ""],
  ["bytes that are no UTF-8 are replaced", Buffer.of(), Buffer.from([0xc3, 0x28]), "\ufffd("],
])("as in short bodies, %s", async (_, before, within, read) => {
  const list = Array(2000).fill(element).join(",");
  const bytes = Buffer.concat([before, Buffer.from(`${start + list},{"role":"user","content":"`), within]);
  const long = await relayed(path, Buffer.concat([bytes, Buffer.from(`"}${end}`)]));
  expect(long.includes(`"content":"${read}"`)).toBe(true);
  expect(long.startsWith("{")).toBe(true);
});
