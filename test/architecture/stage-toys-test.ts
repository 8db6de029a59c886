// What the toy stages are to do, as a test for the copy of the repository.

/** The text of the test. */
export const TOYS_TEST = `// The toy stages through the running program.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { doors, told } from "../../../src/gateway/stages/check/stage.ts";
import { startTestApp } from "../../support/app.ts";
import { chatAnswer, chatChunk, HANG, type Received, sse, startUpstream } from "../../support/upstream.ts";

const upstream = startUpstream();
const app = await startTestApp({
  config: {
    providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
    models: [{ id: "m", routes: [{ provider: "up", model: "up-model" }], prices: { input: 1, output: 2 } }],
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

let seen: string[] = [];
/** Answers in place of the usual one. */
let answers: ((sent: string) => Response | Promise<Response>)[] = [];
beforeEach(() => {
  seen = [];
  answers = [];
  told.ends = [];
  told.kept = [];
  delete doors.open;
  upstream.answer((received: Received) => {
    const sent = received.text;
    seen.push(sent);
    const own = answers.shift();
    if (own !== undefined) return own(sent);
    if (!sent.includes('"stream":true')) return chatAnswer({ content: "Hello [NAME]! You said [NAM." });
    const chunks = [chatChunk({ content: "Hello [NA" }), chatChunk({ content: "ME]! You said [NAM" }), chatChunk({ content: "." })];
    return sse([...chunks, chatChunk({}, { finish: "stop" }), "data: [DONE]\\n\\n"]);
  });
});

async function ask(path: string, name: string, more: Record<string, unknown>): Promise<string> {
  const messages = [{ role: "user", content: "My name is " + name + "." }];
  const answer = await app.post(path, { model: "m", messages, max_tokens: 100, ...more });
  const text = await answer.text();
  expect(answer.status).toBe(200);
  if (!text.includes("data:")) return /"(?:content|text)":"(Hello[^"]*)"/.exec(text)?.[1] ?? text;
  return [...text.matchAll(/"(?:content|text)":"([^"]*)"/g)].map(([, piece]) => piece).join("");
}

const PATHS = ["/v1/chat/completions", "/v1/messages"];

test.each(PATHS.flatMap((path) => [false, true].map((stream) => [path, stream] as const)))(
  "a mask holds over chunks: %s, stream %p",
  async (path, stream) => {
    expect(await ask(path, "Ada", { stream })).toBe("Hello Ada! You said [NAM.");
    expect(seen).toHaveLength(1);
    expect(seen[0]).toContain("My name is [NAME].");
    expect(seen[0]).not.toContain("Ada");
  },
);

test.each(PATHS)("a masked request hits the cache, and its client gets its own name: %s", async (path) => {
  const more = { temperature: 0, top_p: path === PATHS[0] ? 0.5 : 0.6 };
  // The same messages in another format would hit the cache too.
  const own = path === PATHS[0] ? {} : { system: path };
  expect(await ask(path, "Ada", { ...more, ...own })).toBe("Hello Ada! You said [NAM.");
  const before = seen.length;
  expect(await ask(path, "Bob", { ...more, ...own })).toBe("Hello Bob! You said [NAM.");
  expect(await ask(path, "Eve", { ...more, ...own, stream: true })).toBe("Hello Eve! You said [NAM.");
  expect(seen.length).toBe(before);
});

test("a request that needs neither is relayed", async () => {
  const answer = await app.post("/v1/chat/completions", { model: "m", messages: [{ role: "user", content: "Hi" }] });
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "Hello [NAME]! You said [NAM." } }] });
});

/** What the client reads, whole or streamed, with the reasons for which it ended and the output tokens that it is told. */
async function read(path: string, content: string, more: Record<string, unknown> = {}) {
  const body = { model: "m", messages: [{ role: "user", content }], max_tokens: 100, ...more };
  const options = more["stream"] === true && path === PATHS[0] ? { stream_options: { include_usage: true } } : {};
  const answer = await app.post(path, { ...body, ...options });
  const text = await answer.text();
  const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found ?? "");
  const said = all(/"(?:content|text)":"([^"]*)"/g).join("");
  const reasons = all(/"(?:finish_reason|stop_reason)":"([^"]*)"/g);
  const tokens = Number(all(/"(?:completion|output)_tokens":(\\d+)/g).at(-1));
  const starts = all(/("role":"assistant")/g).length;
  return { status: answer.status, said, reasons, tokens, starts, text };
}

const WAYS = PATHS.flatMap((path) => [false, true].map((stream) => [path, stream] as const));
const piecesOf = (sent: string, pieces: string[]) =>
  sent.includes('"stream":true')
    ? sse([
        ...pieces.map((content) => chatChunk({ content })),
        chatChunk({}, { finish: "stop", usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 } }),
        "data: [DONE]\\n\\n",
      ])
    : chatAnswer({ content: pieces.join("") });
const callOf = (sent: string, id: string, args: string) => {
  const call = { id, type: "function", function: { name: "look_up", arguments: args } };
  const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
  return sent.includes('"stream":true')
    ? sse([
        chatChunk({ tool_calls: [{ index: 0, ...call }] }),
        chatChunk({}, { finish: "tool_calls", usage }),
        "data: [DONE]\\n\\n",
      ])
    : chatAnswer({ content: null, tool_calls: [call] }, { finish: "tool_calls" });
};
test.each(WAYS)("a refused prompt is an error, though its answer has begun: %s, stream %p", async (path, stream) => {
  const door = Promise.withResolvers<void>();
  doors.open = door.promise;
  const begun = Promise.withResolvers<void>();
  answers = [
    (sent) => {
      begun.resolve();
      return sent.includes('"stream":true') ? sse([chatChunk({ content: "Secret" }), HANG]) : piecesOf(sent, ["Secret"]);
    },
  ];
  const reading = read(path, "check this forbidden text", { stream });
  await begun.promise;
  door.resolve();
  const { status, text } = await reading;
  expect(status).toBe(400);
  expect(text).toContain("The prompt is forbidden.");
  expect(text).not.toContain("Secret");
  expect(told.kept).toEqual([]);
});

test.each(WAYS)("a gate alone leaves the answer as it is: %s, stream %p", async (path, stream) => {
  answers = [(sent) => piecesOf(sent, ["Well ", "said."])];
  expect(await read(path, "check only", { stream })).toMatchObject({ status: 200, said: "Well said." });
});

test.each(WAYS)("text that is checked as a whole passes, or the answer ends without it: %s, stream %p", async (path, stream) => {
  answers = [(sent) => piecesOf(sent, ["Well ", "said."]), (sent) => piecesOf(sent, ["Very ", "bad."])];
  expect(await read(path, "check this", { stream })).toMatchObject({ status: 200, said: "Well said.", tokens: 5 });
  const bad = await read(path, "check this too", { stream });
  expect(bad).toMatchObject({ status: 200, said: "", tokens: 5 });
  expect(bad.reasons).toEqual([path === PATHS[0] ? "content_filter" : "refusal"]);
  expect(told.ends.map(({ rounds }) => rounds.map(({ route, usage }) => [route?.model, usage?.outputTokens]))).toEqual([
    [["up-model", 5]],
    [["up-model", 5]],
  ]);
});

test.each(PATHS)("a stop ends the call: %s", async (path) => {
  answers = [() => sse([chatChunk({ content: "One " }), chatChunk({ content: "stop now" }), HANG])];
  const { status, said, reasons } = await read(path, "check this", { stream: true });
  expect({ status, said }).toEqual({ status: 200, said: "" });
  expect(reasons).toEqual([path === PATHS[0] ? "content_filter" : "refusal"]);
});

test.each(WAYS)("two rounds of tools are one answer: %s, stream %p", async (path, stream) => {
  answers = [
    (sent) => callOf(sent, "c1", '{"q":1}'),
    (sent) => callOf(sent, "c2", '{"q":2}'),
    (sent) => piecesOf(sent, ["Both ", "found."]),
  ];
  const answer = await read(path, "check with tools", { stream });
  expect(answer).toMatchObject({ status: 200, said: "(looked up, 5) (looked up, 5) Both found.", tokens: 15, starts: 1 });
  expect(answer.reasons).toEqual([path === PATHS[0] ? "stop" : "end_turn"]);
  expect(answer.text).not.toContain("look_up");
  expect(seen).toHaveLength(3);
  expect(seen[2]).toContain('result for {\\\\"q\\\\":2}');
  expect(told.ends).toHaveLength(1);
  expect(told.ends[0]?.rounds).toEqual(
    Array.from({ length: 3 }, () => expect.objectContaining({ usage: expect.objectContaining({ outputTokens: 5 }) })),
  );
});

test.each(WAYS)("every round is masked, and may be found in the cache: %s, stream %p", async (path, stream) => {
  const content = (name: string) => "My name is " + name + ". Say it with tools, " + path + stream;
  answers = [(sent) => callOf(sent, "c1", '{"name":"[NAME]"}'), (sent) => piecesOf(sent, ["Hello [NA", "ME]."])];
  const ada = await read(path, content("Ada"), { stream, temperature: 0 });
  expect(ada).toMatchObject({ status: 200, said: "(looked up, 5) Hello Ada." });
  expect(seen).toHaveLength(2);
  expect(seen.join()).not.toContain("Ada");
  expect(seen[1]).toContain("[NAME]");
  const eve = await read(path, content("Eve"), { stream, temperature: 0 });
  expect(eve).toMatchObject({ status: 200, said: "(looked up, 5) Hello Eve.", starts: 1 });
  expect(seen).toHaveLength(2);
});

test("a client that leaves between two rounds ends them", async () => {
  const leaving = new AbortController();
  answers = [
    (sent) => callOf(sent, "c1", "{}"),
    () => {
      leaving.abort();
      return sse([HANG]);
    },
  ];
  const messages = [{ role: "user", content: "with tools" }];
  const answer = app.call("/v1/chat/completions", {
    method: "POST",
    signal: leaving.signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "m", messages, stream: true }),
  });
  await expect(answer.then((response) => response.text())).rejects.toThrow();
  expect(seen).toHaveLength(2);
});
`;
