// Conversations with OpenAI's own client library against the running program, over every upstream protocol.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { DIALECTS } from "../support/fake-model.ts";
import { type Clients, GREETING, startClients, stopClients, WEATHER } from "./fixture.ts";

let clients: Clients;
let openai: OpenAI;
beforeAll(async () => {
  clients = await startClients();
  openai = new OpenAI({ baseURL: `${clients.app.url}/v1`, apiKey: clients.app.key, maxRetries: 0 });
});
afterAll(() => stopClients(clients));

const tools = [
  {
    type: "function" as const,
    name: "weather",
    strict: false,
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
];

/** The kinds of a conversation's items in their order, from all pages. */
async function kinds(id: string): Promise<string[]> {
  const out: string[] = [];
  for await (const item of openai.conversations.items.list(id, { order: "asc", limit: 2 })) {
    out.push(item.type === "message" ? item.role : item.type);
  }
  return out;
}

describe.each([...DIALECTS])("over %s", (model) => {
  test.each([false, true])("a loop of tools within a conversation; stream: %p", async (stream) => {
    const { id } = await openai.conversations.create({
      metadata: { topic: "weather" },
      items: [{ type: "message", role: "developer", content: "Answer in one sentence." }],
    });
    const ask = async (input: string | OpenAI.Responses.ResponseInput) => {
      const body = { model, input, tools, conversation: id };
      return stream ? openai.responses.stream(body).finalResponse() : openai.responses.create(body);
    };
    const first = await ask("How warm is it in Oslo?");
    expect(first.conversation?.id).toBe(id);
    const call = first.output.find((item) => item.type === "function_call");
    if (call?.type !== "function_call") throw new Error("The model did not call its tool.");
    const second = await ask([{ type: "function_call_output", call_id: call.call_id, output: WEATHER }]);
    expect(second.output_text).toBe(`It is ${WEATHER} in Oslo.`);
    const all = (await kinds(id)).filter((kind) => kind !== "reasoning");
    expect(all).toEqual(["developer", "user", "function_call", "function_call_output", "assistant"]);
  });
});

test("conversations and items, as the library reads them", async () => {
  const made = await openai.conversations.create();
  expect(made.object).toBe("conversation");
  const { id } = await openai.conversations.update(made.id, { metadata: { a: "b" } });
  expect((await openai.conversations.retrieve(id)).metadata).toEqual({ a: "b" });
  const added = await openai.conversations.items.create(id, {
    items: ["one", "two"].map((content) => ({ type: "message", role: "user", content })),
  });
  const item = await openai.conversations.items.retrieve(added.last_id, { conversation_id: id });
  expect(item).toMatchObject({ type: "message", status: "completed", content: [{ type: "input_text", text: "two" }] });
  const left = await openai.conversations.items.delete(added.first_id, { conversation_id: id });
  expect([left.id, await kinds(id)]).toEqual([id, ["user"]]);
  const answer = await openai.responses.create({ model: "openai-chat", input: "Hi", conversation: { id } });
  expect(answer.output_text).toBe(GREETING);
  expect(await openai.conversations.delete(id)).toEqual({ id, object: "conversation.deleted", deleted: true });
  const gone = await openai.conversations.retrieve(id).catch((error: unknown) => error);
  expect(gone).toBeInstanceOf(OpenAI.NotFoundError);
});
