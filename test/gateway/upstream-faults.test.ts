// Every kind of provider failure with every protocol and every client format, whole and streamed: status, code, text and breaker,
// and nothing about the operator's account.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { DIALECTS, type DialectName, KINDS, say } from "../support/fake-model.ts";
import { CLIENT_FORMATS, type ClientFormat } from "../support/heard.ts";
import { type FakeUpstream, sse, startUpstream } from "../support/upstream.ts";
import {
  ANSWER_FAULTS,
  type FaultCase,
  faultBody,
  faultFrame,
  HTTP_FAULTS,
  INTERNAL,
  ORGANISATION,
  PLAN,
  SECRET,
} from "../support/upstream-faults.ts";

type Json = Record<string, unknown>;

let app: TestApp;
let up: FakeUpstream;

beforeAll(async () => {
  up = startUpstream();
  const provider = (dialect: DialectName) => ({
    kind: KINDS[dialect],
    base_url: up.baseUrl,
    // The secret is there twice: unchanged, and in the form of an error code.
    api_keys: [SECRET, SECRET.replaceAll("-", "_")],
    discover: false,
    retry: { attempts: 1 },
    breaker: { failures: 10_000 },
  });
  app = await startTestApp({
    config: {
      tiers: { premium: { rpm: 100_000 } },
      providers: {
        ...Object.fromEntries(DIALECTS.map((dialect) => [dialect, provider(dialect)])),
        // Any provider's address is hidden in the texts of all.
        inside: { ...provider("openai-chat"), base_url: `${INTERNAL}/v1` },
      },
      models: DIALECTS.map((dialect) => ({ id: dialect, routes: [{ provider: dialect, model: "up-model" }] })),
    },
  });
});
afterAll(async () => {
  await app.stop();
  await up.stop();
});

/** The number of frames up to the first text. */
const BEGUN = { "openai-chat": 2, "openai-responses": 5, "anthropic-messages": 4, gemini: 1 };
const MODES = [false, true];
const CELLS = DIALECTS.flatMap((dialect) =>
  CLIENT_FORMATS.flatMap((of) => MODES.map((stream) => ({ dialect, of, stream, format: of.name }))),
);

const ask = (of: ClientFormat, dialect: DialectName, stream: boolean) =>
  app.post(of.path, { ...of.body({ stream, tools: false }), model: dialect });

async function failuresOf(dialect: DialectName): Promise<number> {
  const { breakers } = (await (await fetch(`${app.url}/health`)).json()) as {
    breakers: Record<string, { failures: number }>;
  };
  return breakers[dialect]!.failures;
}

function expectNoLeak(response: Response, text: string): void {
  const id = response.headers.get("x-request-id") ?? "";
  expect(id).not.toBe("");
  // Its random digits may be any.
  const all = (text + JSON.stringify([...response.headers])).replaceAll(id, "").replaceAll(id.replaceAll("-", ""), "");
  for (const planted of [SECRET, SECRET.replaceAll("-", "_"), ORGANISATION, PLAN, "12345", "10.4.0.7"])
    expect(all).not.toContain(planted);
}

/** What the client is told if the protocol cannot express some of the case's values. */
function toldOf({ told, words, plain }: FaultCase, dialect: DialectName): FaultCase["told"] {
  if (dialect === "openai-chat" || dialect === "openai-responses") return told;
  if (dialect === "anthropic-messages") {
    const { param: _param, ...rest } = told;
    const shown = words.code === told.code && told.code !== "context_length_exceeded";
    return shown ? { ...rest, details: { ...told.details, error_code: told.code } } : rest;
  }
  if (plain !== undefined) return plain;
  const { param: _param, details: _details, ...rest } = told;
  const ours = told.status !== 400 || told.code === "context_length_exceeded";
  return ours ? rest : { ...rest, code: "invalid_request" };
}

async function expectRefusal(response: Response, told: FaultCase["told"], of: ClientFormat): Promise<void> {
  const text = await response.text();
  expect(response.status).toBe(told.status);
  expect(response.headers.get("content-type")).toContain("application/json");
  expect(response.headers.get("retry-after")).toBe(told.retryAfter ?? null);
  const body = JSON.parse(text) as Json;
  const error = of.refusal(body);
  expect(error["code"]).toBe(told.code);
  expect(error["param"]).toBe(told.param ?? null);
  expect(error["details"]).toEqual(of.noDetails ? undefined : told.details);
  if (told.says === undefined) expect(error["message"]).not.toContain("No such thing");
  else expect(error["message"]).toBe(told.says);
  if (of.name === "anthropic-messages") {
    expect(body["type"]).toBe("error");
    expect(body["request_id"]).toBe(response.headers.get("request-id"));
    expect(body["request_id"]).toBe(response.headers.get("x-request-id"));
  }
  if (told.says !== PLAN) expectNoLeak(response, text);
}

describe.each(CELLS)("$dialect to $format, stream $stream", ({ dialect, of, stream }) => {
  /** Runs one case and checks the breaker. */
  async function expectCounted(one: FaultCase, run: () => Promise<void>): Promise<void> {
    const [before, calls] = [await failuresOf(dialect), up.received.length];
    await run();
    expect((await failuresOf(dialect)) - before > 0).toBe(one.counts);
    if (toldOf(one, dialect).status === 400) expect(up.received.length - calls).toBe(1);
  }

  test.each(HTTP_FAULTS.map((one) => [one.name, one] as const))("the upstream answers %s", async (_name, one) => {
    const { words, headers = {} } = one;
    up.answer(() => Response.json(faultBody(dialect, words), { status: words.status, headers }));
    await expectCounted(one, async () => expectRefusal(await ask(of, dialect, stream), toldOf(one, dialect), of));
  });

  test.each(ANSWER_FAULTS.map((one) => [one.name, one] as const))("200 and JSON: %s", async (_name, one) => {
    up.answer(() => Response.json(faultBody(dialect, one.words)));
    await expectCounted(one, async () => expectRefusal(await ask(of, dialect, stream), toldOf(one, dialect), of));
  });

  if (!stream) return;

  test.each(ANSWER_FAULTS.map((one) => [one.name, one] as const))("before content: %s", async (_name, one) => {
    up.answer(() => sse([faultFrame(dialect, one.words)]));
    await expectCounted(one, async () => expectRefusal(await ask(of, dialect, stream), toldOf(one, dialect), of));
  });

  test.each(ANSWER_FAULTS.map((one) => [one.name, one] as const))("after content: %s", async (_name, one) => {
    up.answer((received) => {
      const said = say(received, {
        text: "Some words.",
        breaks: { after: BEGUN[dialect], with: "end" },
      });
      return said.text().then((text) => sse([text, faultFrame(dialect, one.words)])) as unknown as Response;
    });
    await expectCounted(one, async () => {
      const response = await ask(of, dialect, stream);
      const text = await response.text();
      expect(response.status).toBe(200);
      expect(text).not.toContain("[DONE]");
      const told = toldOf(one, dialect);
      // What the request itself causes keeps its code, so that clients do not repeat it.
      const code = told.status === 400 ? told.code : "provider_stream_interrupted";
      expect(of.failure(text)).toMatchObject({
        message: told.says ?? expect.any(String),
        ...(of.isTerse ? {} : { code, request_id: response.headers.get("x-request-id") }),
      });
      expectNoLeak(response, text);
    });
  });
});
