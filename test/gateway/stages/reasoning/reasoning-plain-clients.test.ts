// Reasoning that a Responses server did not seal, and clients of the other formats: it goes back to the provider that issued it,
// as the item it was, and to no other one.

import { afterAll, describe, expect, test } from "bun:test";
import { say } from "../../../support/fake-model.ts";
import { type Received, sse } from "../../../support/upstream.ts";
import {
  CLIENTS,
  type Client,
  framesIn,
  type Json,
  PARAMETERS,
  QUESTION,
  startProviders,
} from "./reasoning-fixture.ts";

const RESPONSES = "openai-responses";
const event = (type: string, more: Json) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const { app, upstream, stop } = await startProviders({
  open: { kind: RESPONSES, model: "gpt-oss" },
  other: { kind: RESPONSES, model: "gpt-oss" },
  // It looks items up, as the vendor itself does.
  looks: { kind: RESPONSES, model: "gpt-5", quirks: { plain_reasoning: false } },
  claude: { kind: "anthropic", model: "claude-sonnet-4-5" },
  gemini: { kind: "gemini", model: "gemini-3-pro" },
});
afterAll(stop);

const PLAN = "First look, then tell.";
const call = {
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "look",
  arguments: "{}",
  status: "completed",
};
const PLAIN: Readonly<Record<string, Json>> = {
  "its text": { summary: [], content: [{ type: "reasoning_text", text: PLAN }] },
  "a summary": { summary: [{ type: "summary_text", text: PLAN }] },
};
const itemOf = (form: string) => ({ type: "reasoning", id: "rs_up1", ...PLAIN[form] });

/** An answer with plain reasoning in one form, and a call. */
const thinks = (form: string) => (received: Received) => {
  const output = [itemOf(form), call];
  const usage = { input_tokens: 5, output_tokens: 5, total_tokens: 10 };
  const response = { id: "resp_up", object: "response", created_at: 1, status: "completed", output, usage };
  if (received.json?.["stream"] !== true) return Response.json(response);
  const items = output.flatMap((item, output_index) => [
    event("response.output_item.added", { output_index, item: { ...item, summary: [], content: [] } }),
    event("response.output_item.done", { output_index, item }),
  ]);
  return sse([...items, event("response.completed", { response })]);
};

/** Ollama's clients return the calls and, some of them, the thinking. */
const ollama: Client = {
  path: "/api/chat",
  first: (model, stream) => ({
    ...{ model, stream, think: true, messages: [QUESTION] },
    tools: [{ type: "function", function: { name: "look", parameters: PARAMETERS } }],
  }),
  kept: (answer) => [answer["message"] as Json],
  streamed: (lines) => lines.map(({ message }) => message as Json).filter(({ tool_calls }) => tool_calls !== undefined),
  second(model, kept) {
    const calls = kept.flatMap(({ tool_calls }) => tool_calls as Json[]);
    const id = calls[0]?.["id"];
    const result = { role: "tool", tool_name: "look", tool_call_id: id, content: "seen" };
    return { ...this.first(model, false), messages: [QUESTION, ...kept, result] };
  },
};
const { messages, chat } = CLIENTS as Record<"messages" | "chat", Client>;
const linesIn = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Json);

/** What `target` receives in the second turn of a conversation whose first answer was of `open`. */
async function secondTurn(client: Client, target: string, { form, stream }: { form: string; stream: boolean }) {
  upstream.answer(thinks(form));
  const answer = await app.post(client.path, client.first("open", stream));
  expect(answer.status).toBe(200);
  const text = await answer.text();
  const frames = () => (client === ollama ? linesIn(text) : framesIn(text));
  const kept = stream ? client.streamed(frames()) : client.kept(JSON.parse(text) as Json);
  let up: Json = {};
  upstream.answer((received) => {
    up = received.json ?? {};
    return say(received, { text: "Done." });
  });
  const done = await app.post(client.path, client.second(target, kept));
  expect({ status: done.status, text: done.status === 200 ? "" : await done.text() }).toEqual({
    status: 200,
    text: "",
  });
  return up;
}

describe.each([
  ["chat", chat],
  ["messages", messages],
  ["ollama", ollama],
])("%s client", (_name, client) => {
  describe.each([false, true])("stream %p", (stream) => {
    test.each(Object.keys(PLAIN))("an item with %s goes back to its provider as it was", async (form) => {
      const { input } = (await secondTurn(client, "open", { form, stream })) as { input: Json[] };
      expect(input.map(({ type }) => type ?? "message")).toEqual([
        ...["message", "reasoning", "function_call", "function_call_output"],
      ]);
      expect(input[1]).toEqual(itemOf(form));
    });

    test.each(["other", "looks", "claude", "gemini"])("and not to %s", async (target) => {
      for (const form of Object.keys(PLAIN)) {
        const up = JSON.stringify(await secondTurn(client, target, { form, stream }));
        for (const secret of [PLAN, "rs_up1", "sallyport.1"]) expect(up).not.toContain(secret);
      }
    });
  });
});
