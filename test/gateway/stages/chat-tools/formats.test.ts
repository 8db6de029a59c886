// The gateway's own web search in the other client formats, read with the official clients.

import { afterAll, describe, expect, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import type { Response as ResponseObject } from "openai/resources/responses/responses";
import { startToolsApp } from "./fixture.ts";

const { app, site, upstream, config, plays, stop } = await startToolsApp();
afterAll(stop);

const openai = new OpenAI({ apiKey: app.key, baseURL: `${app.url}/v1`, maxRetries: 0 });
const gemini = new GoogleGenAI({ apiKey: app.key, httpOptions: { baseUrl: app.url } });
const SEARCH = { calls: [{ name: "web_search", input: { query: "what is rye" } }] };
const SAID = { say: "It survives cold winters [1]." };
type Json = Record<string, unknown>;

function secondRound(): string {
  expect(upstream.received.length).toBe(2);
  return JSON.stringify(upstream.received[1]!.json!["messages"]);
}

describe.each([false, true])("stream %p", (stream) => {
  async function respond(more: Json = {}): Promise<ResponseObject> {
    const body = { model: "m", input: "What is rye?", tools: [{ type: "web_search" }], ...more } as never;
    if (!stream) return openai.responses.create(body) as unknown as Promise<ResponseObject>;
    return openai.responses.stream(body).finalResponse() as unknown as Promise<ResponseObject>;
  }

  test("responses: a call item, and annotations where the text names the page", async () => {
    plays(SEARCH, SAID);
    const response = await respond({ include: ["web_search_call.action.sources"], store: false });
    expect(response.output).toMatchObject([
      {
        type: "web_search_call",
        status: "completed",
        action: {
          type: "search",
          query: "what is rye",
          sources: [{ url: `${site.url}/rye` }, { url: `${site.url}/oats` }],
        },
      },
      {
        type: "message",
        content: [
          {
            type: "output_text",
            text: SAID.say,
            annotations: [
              { type: "url_citation", url: `${site.url}/rye`, title: "Rye", start_index: 0, end_index: 28 },
            ],
          },
        ],
      },
    ]);
    expect(response.usage).toMatchObject({ input_tokens: 20, output_tokens: 8, web_searches: 1 });
    expect(secondRound()).toContain("grown as a grain");
    // The items come back by the client.
    const before = upstream.received[1]!.json!["messages"] as Json[];
    plays({ say: "Yes." });
    await respond({
      input: [{ role: "user", content: "What is rye?" }, ...response.output, { role: "user", content: "Sure?" }],
    });
    expect((upstream.received[0]!.json!["messages"] as Json[]).slice(0, 3)).toEqual(before);
    const changed = response.output.map((item) =>
      item.type === "web_search_call" ? { ...item, sealed_results: "sallyport.c1.AAAA" } : item,
    );
    const refused = respond({ input: [...changed, { role: "user", content: "Sure?" }] });
    expect(await refused.catch((error: InstanceType<typeof OpenAI.APIError>) => [error.status, error.code])).toEqual([
      400,
      "invalid_block",
    ]);
  });

  test("responses: stored answers keep what the model was given", async () => {
    plays(SEARCH, SAID);
    const first = await respond();
    const before = upstream.received[1]!.json!["messages"] as Json[];
    plays({ say: "Yes." });
    await respond({ input: "Sure?", previous_response_id: first.id });
    expect((upstream.received[0]!.json!["messages"] as Json[]).slice(0, 3)).toEqual(before);
  });

  test("responses: a chosen search is made once", async () => {
    plays(SEARCH, SAID);
    await respond({ tool_choice: { type: "web_search" } });
    expect(upstream.received.map(({ json }) => json!["tool_choice"])).toEqual([
      { type: "function", function: { name: "web_search" } },
      undefined,
    ]);
  });

  test("chat completions: the words alone, with annotations", async () => {
    plays({ ...SEARCH, say: "Wait. " }, SAID);
    const body = {
      model: "m",
      messages: [{ role: "user" as const, content: "What is rye?" }],
      web_search_options: {
        user_location: { type: "approximate" as const, approximate: { city: "Rome", country: "IT" } },
      },
    };
    const completion = stream
      ? await openai.chat.completions.stream({ ...body, stream_options: { include_usage: true } }).finalChatCompletion()
      : await openai.chat.completions.create(body);
    const { message, finish_reason } = completion.choices[0]!;
    expect([message.content, finish_reason, message.tool_calls]).toEqual([`Wait. ${SAID.say}`, "stop", undefined]);
    expect(message.annotations).toMatchObject([
      { type: "url_citation", url_citation: { url: `${site.url}/rye`, title: "Rye", start_index: 6, end_index: 34 } },
    ]);
    expect(completion.usage).toMatchObject({ prompt_tokens: 20, web_searches: 1 });
    const { tools } = upstream.received[0]!.json as { tools: { function: { description: string } }[] };
    expect(tools[0]?.function.description).toContain("The user is in Rome, IT.");
    expect(secondRound()).toContain("survives cold winters");
  });

  test("Gemini: grounding metadata in bytes", async () => {
    plays({ ...SEARCH, say: "Über " }, SAID);
    const asked = { model: "m", contents: "What is rye?", config: { tools: [{ googleSearch: {} }] } };
    let text = "";
    let grounding: unknown;
    const chunks = stream
      ? await gemini.models.generateContentStream(asked)
      : [await gemini.models.generateContent(asked)];
    for await (const chunk of chunks) {
      text += chunk.candidates?.[0]?.content?.parts?.map((part) => part.text ?? "").join("") ?? "";
      grounding = chunk.candidates?.[0]?.groundingMetadata ?? grounding;
    }
    expect(text).toBe(`Über ${SAID.say}`);
    expect(grounding).toMatchObject({
      webSearchQueries: ["what is rye"],
      groundingChunks: [{ web: { uri: `${site.url}/rye`, title: "Rye" } }, { web: { uri: `${site.url}/oats` } }],
      groundingSupports: [
        { segment: { startIndex: 6, endIndex: 34, text: SAID.say.slice(0, 28) }, groundingChunkIndices: [0] },
      ],
    });
    expect(secondRound()).toContain("survives cold winters");
  });
});

test("off: a tool that nobody runs is refused; a provider with its own search gets it as it is", async () => {
  const request = { model: "m", messages: [{ role: "user", content: "a" }], web_search_options: {} };
  await app.reconfigure(config({ chat_tools: { web_search: "off" } }));
  const refused = await app.post("/v1/chat/completions", request);
  expect([refused.status, ((await refused.json()) as { error: Json }).error]).toMatchObject([
    400,
    { code: "unsupported_parameter", param: "web_search_options" },
  ]);
  const { up } = config().providers;
  for (const web_search of ["off", "auto"]) {
    await app.reconfigure(
      config({ chat_tools: { web_search }, providers: { up: { ...up, quirks: { web_search: true } } } }),
    );
    plays({ say: "Yes." });
    expect((await app.post("/v1/chat/completions", request)).status).toBe(200);
    expect(upstream.received[0]!.json).toMatchObject({ web_search_options: {} });
    expect(upstream.received[0]!.json!["tools"]).toBeUndefined();
  }
  await app.reconfigure(
    config({ chat_tools: { web_search: "own" }, providers: { up: { ...up, quirks: { web_search: true } } } }),
  );
  plays(SEARCH, SAID);
  expect((await app.post("/v1/chat/completions", request)).status).toBe(200);
  expect(secondRound()).toContain("survives cold winters");
});
