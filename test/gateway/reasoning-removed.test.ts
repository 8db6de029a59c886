// OpenAI lists the reasoning items of the history that it left out. The log line counts them, and clients of other protocols are told.

import { afterAll, describe, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

const ANSWER = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "up",
  status: "completed",
  output: [
    {
      id: "msg_1",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "ok", annotations: [] }],
    },
  ],
  usage: { input_tokens: 5, output_tokens: 1, total_tokens: 6 },
};
let transformations: unknown;
const upstream = startUpstream((received) => {
  const response = { ...ANSWER, ...(transformations === undefined ? {} : { input_transformations: transformations }) };
  if ((received.json as Json)["stream"] !== true) return Response.json(response);
  const frame = (type: string, more: Json) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 0, ...more })}\n\n`;
  return new Response(
    frame("response.created", { response: { ...ANSWER, status: "in_progress", output: [] } }) +
      frame("response.completed", { response }),
    { headers: { "content-type": "text/event-stream" } },
  );
});
const app = await startTestApp({
  config: {
    providers: { up: { kind: "openai-responses", base_url: upstream.baseUrl, api_key: "k", discover: false } },
    models: [{ id: "m", routes: [{ provider: "up", model: "up" }] }],
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

const BODIES: Readonly<Record<string, Json>> = {
  "/v1/chat/completions": { messages: [{ role: "user", content: "hi" }] },
  "/v1/messages": { messages: [{ role: "user", content: "hi" }], max_tokens: 9 },
  "/v1/responses": { input: "hi", store: false },
};
const removed = (reason: string) => ({ id: "rs_1", type: "reasoning", action: "removed", reason });
const CASES: readonly [name: string, transformations: unknown, count: number | undefined][] = [
  ["two", [removed("prefix_mismatch"), removed("model_mismatch"), { type: "message", action: "removed" }], 2],
  ["none", [{ id: "rs_1", type: "reasoning", action: "kept" }], undefined],
  ["nothing told", undefined, undefined],
  ["nonsense", "reasoning", undefined],
];

describe.each(CASES)("%s", (name, told, count) => {
  test.each(Object.keys(BODIES).flatMap((path) => [[path, false] as const, [path, true] as const]))(
    "%s, stream %p",
    async (path, stream) => {
      transformations = told;
      const id = `${name}-${path}-${stream}`.replace(/\W/g, "-");
      const answer = await app.call(path, {
        method: "POST",
        headers: { "x-request-id": id },
        body: JSON.stringify({ model: "m", ...BODIES[path], stream }),
      });
      const text = await answer.text();
      expect([answer.status, text.includes("ok")]).toEqual([200, true]);
      const isTold = count !== undefined && !stream && path !== "/v1/responses";
      expect(answer.headers.get("x-sallyport-dropped")).toBe(isTold ? "reasoning" : null);
      await app.flushLogs();
      const line = app.logs.findLast((one) => one["request_id"] === id && one["status"] === 200);
      expect(line?.["reasoning_removed"]).toBe(count);
      // Who speaks the same protocol gets the list itself.
      if (path === "/v1/responses" && told !== undefined) expect(text).toContain("input_transformations");
    },
  );
});
