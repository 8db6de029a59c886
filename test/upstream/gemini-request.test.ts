import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatMessage, ChatRequest } from "../../src/chat/request.ts";
import { gemini } from "../../src/upstream/dialects/gemini/dialect.ts";
import { chat, context } from "./support.ts";

const send = (part: Partial<ChatRequest>, more: Parameters<typeof context>[0] = {}) => {
  const sent = gemini.request(chat(part), context({ model: "gemini-3-flash", ...more }));
  return { ...sent, json: JSON.parse(sent.body) };
};
const text = (words: string) => ({ type: "text" as const, text: words });
const user = (...content: Extract<ChatMessage, { role: "user" }>["content"]): ChatMessage => ({
  role: "user",
  content,
});
const assistant = (...content: Extract<ChatMessage, { role: "assistant" }>["content"]): ChatMessage => ({
  role: "assistant",
  content,
});
const call = (callId: string, signature?: string) =>
  ({
    type: "tool-call",
    callId,
    name: "f",
    kind: "function",
    arguments: '{"x":1}',
    ...(signature ? { signature } : {}),
  }) as const;
const result = (
  callId: string,
  ...content: Extract<ChatMessage, { role: "tool" }>["content"][0]["content"]
): ChatMessage => ({
  role: "tool",
  content: [{ type: "tool-result", callId, content }],
});
const png = { type: "image", source: { kind: "base64", mediaType: "image/png", data: "iVBO" } } as const;

describe("contents", () => {
  test("the smallest request, streamed and not", () => {
    expect(send({})).toMatchObject({
      path: "/models/gemini-3-flash:generateContent",
      json: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
      dropped: [],
    });
    expect(send({}, { stream: true }).path).toBe("/models/gemini-3-flash:streamGenerateContent?alt=sse");
    expect(send({}, { model: "tunedModels/a b" }).path).toBe("/tunedModels/a%20b:generateContent");
  });

  test("11: all system text is moved to the top", () => {
    const { json } = send({
      messages: [{ role: "system", content: [text("A")] }, user(text("x")), { role: "system", content: [text("B")] }],
    });
    expect(json.systemInstruction).toEqual({ parts: [{ text: "A" }, { text: "B" }] });
    expect(json.contents).toHaveLength(1);
  });

  test("calls and results, with ids, images and signatures for the third generation", () => {
    const { json } = send({
      messages: [
        user(text("x")),
        assistant(text("a"), call("c1", "Sig=="), call("c2")),
        user(text("aside")),
        result("c2", text("two"), png),
        result("c1", text("one")),
        assistant(call("c3")),
        { role: "tool", content: [{ type: "tool-result", callId: "c3", content: [text("bad")], isError: true }] },
      ],
    });
    expect(json.contents.slice(1)).toEqual([
      {
        role: "model",
        parts: [
          { text: "a" },
          { functionCall: { id: "c1", name: "f", args: { x: 1 } }, thoughtSignature: "Sig==" },
          { functionCall: { id: "c2", name: "f", args: { x: 1 } } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "c1", name: "f", response: { output: "one" } } },
          {
            functionResponse: {
              id: "c2",
              name: "f",
              response: { output: "two" },
              parts: [{ inlineData: { mimeType: "image/png", data: "iVBO" } }],
            },
          },
        ],
      },
      { role: "user", parts: [{ text: "aside" }] },
      {
        role: "model",
        // A call of another model gets the protocol's own placeholder in place of a signature.
        parts: [
          {
            functionCall: { id: "c3", name: "f", args: { x: 1 } },
            thoughtSignature: "skip_thought_signature_validator",
          },
        ],
      },
      { role: "user", parts: [{ functionResponse: { id: "c3", name: "f", response: { error: "bad" } } }] },
    ]);
  });

  test("before the third generation: no ids, no signatures from the gateway, images beside the result", () => {
    const { json } = send(
      { messages: [user(text("x")), assistant(call("c1")), result("c1", text("r"), png)] },
      { model: "gemini-2.5-flash" },
    );
    expect(json.contents[1].parts).toEqual([{ functionCall: { name: "f", args: { x: 1 } } }]);
    expect(json.contents[2].parts).toEqual([{ functionResponse: { name: "f", response: { output: "r" } } }]);
    expect(json.contents[3].parts[1]).toEqual({ inlineData: { mimeType: "image/png", data: "iVBO" } });
  });

  test("9: signatures of its own thinking are sent back, foreign ones are not", () => {
    const { json } = send({
      messages: [
        user(text("x")),
        assistant(
          { type: "reasoning", text: "t", signature: "S+/=", origin: "gemini" },
          { type: "reasoning", text: "t", signature: "A", origin: "anthropic-messages" },
          text("y"),
        ),
        user(text("z")),
      ],
    });
    expect(json.contents[1].parts).toEqual([{ text: "", thoughtSignature: "S+/=" }, { text: "y" }]);
  });

  test("12: media of every source", () => {
    const parts = send({
      messages: [
        user(
          { type: "image", source: { kind: "url", url: "https://x.test/a.webp?b" } },
          { type: "image", source: { kind: "url", url: "data:image/gif;base64,R0" } },
          { type: "file", source: { kind: "base64", mediaType: "application/pdf", data: "JV" } },
          { type: "file", source: { kind: "text", text: "plain" } },
          { type: "audio", format: "mp3", data: "SU" },
        ),
      ],
    }).json.contents[0].parts;
    expect(parts).toEqual([
      { fileData: { mimeType: "image/webp", fileUri: "https://x.test/a.webp?b" } },
      { inlineData: { mimeType: "image/gif", data: "R0" } },
      { inlineData: { mimeType: "application/pdf", data: "JV" } },
      { text: "plain" },
      { inlineData: { mimeType: "audio/mp3", data: "SU" } },
    ]);
  });

  test("11: for any history, the calls of each model turn are followed by the same number of results", () => {
    const id = fc.constantFrom("a", "b", "c");
    const message: fc.Arbitrary<ChatMessage> = fc.oneof(
      fc.constantFrom("", "w").map((words) => user(text(words))),
      fc
        .array(
          fc.oneof(
            fc.constant(text("t")),
            id.map((one) => call(one)),
          ),
          { maxLength: 3 },
        )
        .map((content) => assistant(...content)),
      id.map((one) => result(one, text("r"))),
    );
    type Piece = { functionCall?: { id: string }; functionResponse?: { id: string } };
    fc.assert(
      fc.property(fc.array(message, { maxLength: 9 }), (messages) => {
        const { json } = send({ messages: [...messages, user(text("end"))] });
        expect(json.contents[0].role).toBe("user");
        let owed: string[] = [];
        for (const { role, parts } of json.contents as { role: string; parts: Piece[] }[]) {
          expect(parts.length).toBeGreaterThan(0);
          const answered = parts.flatMap((part) => (part.functionResponse ? [part.functionResponse.id] : []));
          expect(answered).toEqual(owed);
          if (answered.length > 0) expect(answered).toHaveLength(parts.length);
          owed = role === "model" ? parts.flatMap((part) => (part.functionCall ? [part.functionCall.id] : [])) : [];
        }
        expect(owed).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("tools", () => {
  const tools: ChatRequest["tools"] = [
    {
      type: "function",
      name: "f",
      description: "d",
      parameters: { $schema: "x", type: "object", properties: { a: { $ref: "#" } } },
    },
    { type: "function", name: "g" },
    { type: "server", origin: "gemini", name: "googleSearch", value: { googleSearch: {} } },
    { type: "server", origin: "openai-responses", name: "web_search", value: {} },
  ];

  test("declarations keep their complete schema; server tools of others are named", () => {
    const { json, dropped } = send({ tools });
    expect(json.tools).toEqual([
      {
        functionDeclarations: [
          { name: "f", description: "d", parametersJsonSchema: { type: "object", properties: { a: { $ref: "#" } } } },
          { name: "g" },
        ],
      },
      { googleSearch: {} },
    ]);
    expect(dropped).toEqual(["tools.web_search"]);
  });

  test.each([
    [{ type: "auto" }, { mode: "AUTO" }],
    [{ type: "none" }, { mode: "NONE" }],
    [{ type: "required" }, { mode: "ANY" }],
    [
      { type: "tool", name: "g" },
      { mode: "ANY", allowedFunctionNames: ["g"] },
    ],
    [{ type: "allowed", mode: "auto", names: ["g"] }, { mode: "AUTO" }],
    [
      { type: "allowed", mode: "required", names: ["g"] },
      { mode: "ANY", allowedFunctionNames: ["g"] },
    ],
  ] as const)("14: tool_choice %j", (toolChoice, expected) => {
    const { json } = send({ tools, toolChoice: toolChoice as NonNullable<ChatRequest["toolChoice"]> });
    expect(json.toolConfig.functionCallingConfig).toEqual(expected);
    expect(json.tools[0].functionDeclarations).toHaveLength(
      toolChoice.type === "allowed" && toolChoice.mode === "auto" ? 1 : 2,
    );
  });
});

describe("parameters", () => {
  test("14: limit, sampling, stop, candidates", () => {
    const { json, dropped } = send({
      maxTokens: 9,
      temperature: 0.3,
      topP: 0.8,
      topK: 4,
      seed: 1,
      n: 2,
      stop: ["END"],
      presencePenalty: 1,
      user: "u",
      extra: { x: 1 },
    });
    expect(json.generationConfig).toEqual({
      maxOutputTokens: 9,
      temperature: 0.3,
      topP: 0.8,
      topK: 4,
      seed: 1,
      candidateCount: 2,
      stopSequences: ["END"],
    });
    expect(dropped).toEqual(["presence_penalty", "user", "x"]);
  });

  test.each([
    ["gemini-3-flash", { effort: "minimal" }, { thinkingLevel: "minimal", includeThoughts: true }],
    ["gemini-3-pro-preview", { effort: "medium" }, { thinkingLevel: "high", includeThoughts: true }, true],
    ["gemini-3.1-pro", { effort: "none" }, { thinkingLevel: "low", includeThoughts: false }, true],
    ["gemini-3-flash", { budgetTokens: 10_000 }, { thinkingLevel: "medium", includeThoughts: true }],
    ["gemini-3-flash", { enabled: true }, { includeThoughts: true }],
    ["gemini-2.5-flash", { effort: "max" }, { thinkingBudget: 24_576, includeThoughts: true }],
    ["gemini-2.5-pro", { enabled: false }, { thinkingBudget: 128, includeThoughts: false }, true],
    ["gemini-2.5-flash", { enabled: true }, { thinkingBudget: -1, includeThoughts: true }],
    ["gemini-2.0-flash", { effort: "high" }, undefined, true],
    ["gemini-4-ultra", { effort: "max" }, { thinkingLevel: "xhigh", includeThoughts: true }, true],
    ["gemini-flash-latest", { effort: "low" }, { thinkingLevel: "low", includeThoughts: true }],
  ] as [string, ChatRequest["reasoning"] & object, object | undefined, boolean?][])(
    "%s with reasoning %j",
    (...row) => {
      const [model, reasoning, expected, named = false] = row;
      const { json, dropped } = send({ reasoning }, { model });
      expect(json.generationConfig?.thinkingConfig).toEqual(expected);
      expect(dropped).toEqual(named ? ["reasoning_effort"] : []);
    },
  );

  test("a budget that the gateway sets leaves a share of the output limit for the answer", () => {
    const budget = (maxTokens: number, reasoning: ChatRequest["reasoning"], model = "gemini-2.5-flash") =>
      send({ maxTokens, ...(reasoning === undefined ? {} : { reasoning }) }, { model }).json.generationConfig
        .thinkingConfig.thinkingBudget;
    expect(budget(2000, { effort: "high" })).toBe(1500);
    expect(budget(2000, { budgetTokens: 1900 })).toBe(1900);
    expect(budget(100, { effort: "high" }, "gemini-2.5-pro")).toBe(128);
  });

  test("structured output: by parameter, or in the text if tools forbid it", () => {
    const schema = { type: "object", additionalProperties: false };
    const responseFormat = { type: "json_schema", name: "n", schema } as const;
    expect(send({ responseFormat }).json.generationConfig).toEqual({
      responseMimeType: "application/json",
      responseJsonSchema: schema,
    });
    expect(send({ responseFormat: { type: "json_object" } }).json.generationConfig).toEqual({
      responseMimeType: "application/json",
    });
    const old = send({ responseFormat, tools: [{ type: "function", name: "f" }] }, { model: "gemini-2.5-pro" }).json;
    expect(old.generationConfig).toBeUndefined();
    expect(old.systemInstruction.parts[0].text).toContain(JSON.stringify(schema));
  });

  test.each([
    ["modalities", { modalities: ["audio"] }],
    ["messages", { messages: [user({ type: "image", source: { kind: "file", fileId: "other-1" } })] }],
  ] as const)("%s is refused by name", (param, part) => {
    let thrown: unknown;
    try {
      send(part as unknown as Partial<ChatRequest>);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ apiCode: "unsupported_parameter", detail: { param } });
  });

  test("more stop sequences than the protocol allows: the gateway handles the rest", () => {
    const { json, cutAt } = send({ stop: ["1", "2", "3", "4", "5", "6"] });
    expect(json.generationConfig.stopSequences).toEqual(["1", "2", "3", "4", "5"]);
    expect(cutAt).toEqual(["6"]);
  });

  test("parameters that the provider refuses are left out and named", () => {
    expect(send({ topK: 4 }, { quirks: { refuses: ["top_k"] } })).toMatchObject({ dropped: ["top_k"] });
    const sent = send({ responseFormat: { type: "json_object" } }, { quirks: { refuses: ["response_format"] } });
    expect(sent.dropped).toEqual(["response_format"]);
    expect(sent.json).not.toHaveProperty("generationConfig.responseMimeType");
    expect(JSON.stringify(sent.json.systemInstruction)).toContain("JSON object");
  });
});
