// Vercel's AI SDK against the running program: its three provider packages, each over every upstream protocol.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateObject, generateText, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { DIALECTS } from "../support/fake-model.ts";
import { type Clients, FORECAST, GREETING, startClients, stopClients, THOUGHT, WEATHER } from "./fixture.ts";

// The library's warnings about its own interface are not tested here.
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

let clients: Clients;
beforeAll(async () => {
  clients = await startClients();
});
afterAll(() => stopClients(clients));

const options = () => ({ baseURL: `${clients.app.url}/v1`, apiKey: clients.app.key });
const PROVIDERS: Record<string, (model: string) => LanguageModel> = {
  "openai-compatible": (model) =>
    createOpenAICompatible({ ...options(), name: "gateway", includeUsage: true, supportsStructuredOutputs: true })(
      model,
    ),
  openai: (model) => createOpenAI(options()).responses(model),
  anthropic: (model) => createAnthropic(options())(model),
};

const weather = (asked: unknown[]) =>
  tool({
    description: "The weather of a city",
    inputSchema: z.object({ city: z.string() }),
    execute: (input) => {
      asked.push(input);
      return WEATHER;
    },
  });

describe.each(Object.keys(PROVIDERS))("@ai-sdk/%s", (name) => {
  const modelOf = (id: string) => PROVIDERS[name]?.(id) as LanguageModel;

  describe.each([...DIALECTS])("over %s", (id) => {
    test("generateText", async () => {
      const { text, finishReason, usage } = await generateText({ model: modelOf(id), prompt: "Hi", maxRetries: 0 });
      expect({ text, finishReason }).toEqual({ text: GREETING, finishReason: "stop" });
      expect(usage).toMatchObject({ inputTokens: 20, outputTokens: 9 });
    });

    test("streamText", async () => {
      const result = streamText({ model: modelOf(id), prompt: "Hi", maxRetries: 0 });
      let text = "";
      for await (const part of result.textStream) text += part;
      expect(text).toBe(GREETING);
      expect(await result.finishReason).toBe("stop");
      expect(await result.usage).toMatchObject({ inputTokens: 20, outputTokens: 9 });
    });

    test("generateText with a tool loop", async () => {
      const asked: unknown[] = [];
      const tools = { weather: weather(asked) };
      const { text, steps } = await generateText({
        model: modelOf(id),
        prompt: "How warm is it in Oslo?",
        tools,
        stopWhen: stepCountIs(3),
        maxRetries: 0,
      });
      expect(text).toBe(`It is ${WEATHER} in Oslo.`);
      expect(asked).toEqual([{ city: "Oslo" }]);
      expect(steps[0]?.finishReason).toBe("tool-calls");
      expect(steps[0]?.reasoningText).toBe(THOUGHT.text);
    });

    test("streamText with a tool loop", async () => {
      const asked: unknown[] = [];
      const result = streamText({
        model: modelOf(id),
        prompt: "How warm is it in Oslo?",
        tools: { weather: weather(asked) },
        stopWhen: stepCountIs(3),
        maxRetries: 0,
      });
      await result.consumeStream();
      expect(await result.text).toBe(`It is ${WEATHER} in Oslo.`);
      expect(asked).toEqual([{ city: "Oslo" }]);
    });

    test("generateObject", async () => {
      const schema = z.object({ city: z.string(), degrees: z.number() });
      const { object } = await generateObject({
        model: modelOf(id),
        schema,
        prompt: "Answer about Oslo",
        maxRetries: 0,
      });
      expect(object).toEqual(FORECAST);
    });
  });
});
