// Unmodified public clients of decisions against the running program.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { createTypeSafeAi } from "@ai-sdk/typesafe-ai";
import { OpenRouter } from "@openrouter/sdk";
import { choice, NotFoundError, noul, score, TypeSafeClient, UnprocessableEntityError } from "@typesafe-ai/sdk";
import { experimental_decide } from "ai";
import { Ollama } from "ollama";
import OpenAI from "openai";
import { type Fake, nativeAnswers, startFake } from "../decisions/support.ts";
import { type Program, startProgram } from "../support/program.ts";

let upstream: Fake;
let gateway: Program;
let key: string;

beforeAll(async () => {
  upstream = startFake(nativeAnswers);
  const backend = { kind: "systemone", routes: [{ provider: "native", model: "jev-1.13.0" }] };
  gateway = await startProgram({
    providers: { native: { kind: "systemone", base_url: upstream.url } },
    decisions: { models: [{ id: "jev-1.13.0", aliases: ["jev-latest"], backend }] },
  });
  key = gateway.key;
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const CRITERIA = { billing: "Charges and refunds", support: "Everything else" };
const LEVELS: [string, string, string] = ["calm", "annoyed", "angry"];

test.each(["", "/typesafe"])("TypeSafe's own SDK at %p", async (prefix) => {
  const client = new TypeSafeClient({ apiKey: key, baseURL: gateway.url + prefix });
  const { answers, model } = await client.systemOne({
    // Long enough that clients with compression compress it.
    state: { document: "I was charged twice. ".repeat(100) },
    questions: {
      category: choice("What is this about?", CRITERIA),
      urgent: noul("Is it urgent?"),
      mood: score("How angry?", LEVELS),
    },
  });
  expect(model).toBe("jev-1.13.0");
  expect(answers.category.choice).toBe("support");
  expect(answers.urgent.noul).toBeCloseTo(0.87, 9);
  expect(answers.mood.score).toBeGreaterThan(1);
  const ask = (questions: Record<string, unknown>, name = "jev-latest") =>
    client.systemOne({ model: name, state: "s", questions: questions as never }).then(
      () => undefined,
      (error: unknown) => error,
    );
  expect(await ask({ q: noul("?") }, "nope")).toBeInstanceOf(NotFoundError);
  expect(await ask({ q: { type: "choice", criteria: {} } })).toBeInstanceOf(UnprocessableEntityError);
});

test("the SDK lists the decision models", async () => {
  const client = new TypeSafeClient({ apiKey: key, baseURL: `${gateway.url}/typesafe` });
  const models = await client.models.list();
  expect(models.map(({ name }) => name)).toEqual(["jev-1.13.0", "jev-latest", "demo-decide"]);
});

test("the AI SDK's decide", async () => {
  const typesafe = createTypeSafeAi({ apiKey: key, baseURL: `${gateway.url}/typesafe/v1` });
  const result = await experimental_decide({
    model: typesafe.evaluationModel("jev-latest") as never,
    state: "I was charged twice.",
    questions: {
      topic: { type: "choice", instructions: "Which?", criteria: CRITERIA },
      angry: { type: "boolean", instructions: "Angry?" },
      mood: { type: "score", instructions: "How angry?", criteria: LEVELS },
    },
  } as never);
  const answers = result.answers as Record<string, Record<string, unknown>>;
  expect(answers).toMatchObject({ topic: { type: "choice" }, angry: { type: "boolean" }, mood: { type: "score" } });
});

test("OpenRouter's SDK", async () => {
  const client = new OpenRouter({ apiKey: key, serverURL: `${gateway.url}/typesafe/v1` });
  const answer = await client.systemOne.create({
    decisionsRequest: {
      model: "jev-latest",
      state: "s",
      questions: { mood: { type: "score", instructions: "?", criteria: LEVELS } },
    },
  } as never);
  expect(answer.answers["mood"]).toMatchObject({ type: "score" });
});

test("Ollama's client", async () => {
  const client = new Ollama({ host: gateway.url, headers: { authorization: `Bearer ${key}` } });
  const answer = await client.systemone({
    model: "jev-latest",
    state: "s",
    questions: {
      topic: { type: "choice", instructions: "?", criteria: CRITERIA },
      angry: { type: "noul", instructions: "?" },
    },
  });
  expect(answer.answers["topic"]).toMatchObject({ type: "choice", choice: "support" });
});

test("OpenAI's SDK", async () => {
  const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1` });
  const answer = await client.decisions.create({
    model: "jev-latest" as never,
    input: "s",
    questions: [
      { type: "predicate", name: "angry", instructions: "Angry?" },
      { type: "choice", instructions: "Which?", choices: [{ value: "a" }, { value: "b" }] },
    ],
  });
  expect(answer.answers.map(({ type }) => type)).toEqual(["predicate", "choice"]);
});
