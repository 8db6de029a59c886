// Every endpoint for models that are not chat models: the rules of chats for admission, routes, budgets and usage rows apply. An
// endpoint is tested if it is listed. Its fixture is test/gateway/endpoints/models/NAME.ts, named after its path.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { MODEL_ENDPOINTS } from "../../../../src/catalog/endpoints/index.ts";
import { openStore } from "../../../../src/store/engine/open.ts";
import { usageStore } from "../../../../src/store/usage/usage.ts";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { type FakeUpstream, type Received, startUpstream } from "../../../support/upstream.ts";
import type { EndpointFixture } from "./fixture.ts";

type Json = Readonly<Record<string, unknown>>;

/** A usage object with the same value in place of every figure. */
const zeros = (usage: unknown, value = 0) =>
  Object.fromEntries(Object.entries(usage as Json).map(([name, one]) => [name, typeof one === "number" ? value : one]));

const SECRET = "sk-of-the-provider-0123456789";

/** The fixture's name, for example `audio-speech` for `/v1/audio/speech`. */
const nameOf = (path: string) =>
  path
    .replace(/^\/v1\//, "")
    .replace(/^\/api\//, "ollama-")
    .replace(/^\/v1beta\//, "gemini-")
    .replaceAll("/", "-")
    .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

async function fixtureOf(path: string): Promise<EndpointFixture> {
  const file = join(import.meta.dir, `${nameOf(path)}.ts`);
  if (!(await Bun.file(file).exists())) throw new Error(`${path} has no fixture: ${file}`);
  return ((await import(file)) as { fixture: EndpointFixture }).fixture;
}

/** The error of a response, in any form. */
async function failureOf(response: Response): Promise<{ code?: string; param?: string }> {
  const { error, ...rest } = (await response.json()) as { error: string | { code: string; param: string } };
  if (typeof error === "string") return rest;
  const [info] = (error as { details?: { reason: string; metadata: Json }[] }).details ?? [];
  return info === undefined ? error : { ...error, code: info.reason, ...info.metadata };
}

/** A request as a form. */
function formFrom(body: object, files: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) if (value !== undefined) form.append(name, String(value));
  for (const [name, content] of Object.entries(files)) form.append(name, new File([content], `${name}.bin`));
  return form;
}

/** The members that a provider received, as JSON or as a form. */
async function membersOf({ json, headers, text }: Received): Promise<Record<string, unknown>> {
  if (json !== undefined) return json;
  const form = await new Response(text, { headers: { "content-type": headers.get("content-type") ?? "" } }).formData();
  const members = [...form].map(async ([name, value]) => [
    name,
    typeof value === "string" ? value : await value.text(),
  ]);
  return Object.fromEntries(await Promise.all(members)) as Record<string, unknown>;
}

describe.each(MODEL_ENDPOINTS.map((endpoint) => [endpoint.path, endpoint] as const))("%s", (path, endpoint) => {
  let fixture: EndpointFixture;
  let good: FakeUpstream;
  let bad: FakeUpstream;
  let app: TestApp;
  const answer = async (asked: Received) => Response.json(fixture.answer(String((await membersOf(asked))["model"])));

  beforeAll(async () => {
    fixture = await fixtureOf(path);
    good = startUpstream(answer);
    bad = startUpstream(() => Response.json({ error: { message: `no, ${SECRET}` } }, { status: 503 }));
    const provider = (up: FakeUpstream, kind = "openai") => ({
      kind,
      base_url: up.baseUrl,
      api_key: SECRET,
      discover: false,
      retry: { attempts: 1, base: "1ms", max: "1ms" },
      breaker: { failures: 1000 },
    });
    const model = (id: string, providers: string[], more: object = {}) => ({
      id,
      kind: endpoint.kind,
      routes: providers.map((name, at) => ({ provider: name, model: "theirs", priority: at + 1 })),
      ...more,
    });
    app = await startTestApp({
      key: { rpm: 1_000_000 },
      config: {
        usage: { flush: "1ms" },
        providers: { good: provider(good), bad: provider(bad), foreign: provider(good, "anthropic") },
        models: [
          model("ours", ["good"], { prices: { input: 1, output: 1 }, aliases: ["alias-of-ours"] }),
          model("second", ["bad", "good"]),
          model("down", ["bad"]),
          model("foreign", ["foreign"]),
          { id: "chats", routes: [{ provider: "good", model: "c" }] },
        ],
      },
    });
  });
  afterAll(async () => {
    await app.stop();
    await Promise.all([good.stop(), bad.stop()]);
  });
  beforeEach(() => {
    good.received.length = 0;
    bad.received.length = 0;
    good.answer(answer);
  });

  const ask = (model: string, more: object = {}) => {
    const body = { ...fixture.body, model, ...more };
    if (endpoint.file === undefined) return app.post(path, body);
    return app.call(path, { method: "POST", body: formFrom(body, fixture.files ?? {}) });
  };
  /** The usage row of the latest request. The restart makes the program write all waiting rows. */
  const latestRow = async () => {
    await app.restart();
    const store = openStore({ dataDir: app.dataDir });
    const [row] = (await usageStore(store).listLog({ accountId: app.accountId }, { limit: 1 })).rows;
    store.close();
    return row;
  };

  test("is sent unchanged or as translated, with the model and the credential, and so is the answer", async () => {
    const response = await ask("alias-of-ours");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ ...(fixture.shown ?? fixture.answer)("ours") });
    expect(response.headers.get("x-sallyport-model")).toBe("ours");
    expect(response.headers.get("x-sallyport-route")).toBe("good/theirs");
    const [up] = good.received;
    expect(up?.path).toBe(`/v1${endpoint.upstreamPath}`);
    expect(await membersOf(up!)).toEqual({ ...(fixture.sent ?? fixture.body), ...fixture.files, model: "theirs" });
    expect(up?.headers.get("authorization")).toBe(`Bearer ${SECRET}`);
  });

  test("is recorded with the provider's token counts", async () => {
    await ask("ours");
    const row = await latestRow();
    expect(row).toMatchObject({
      ...{ model: "ours", provider: "good", endpoint: path, status: 200 },
      ...{ inputTokens: fixture.tokens, costMicros: row!.inputTokens + row!.outputTokens, estimated: false },
    });
  });

  test.each<[string, (answer: Json) => Json]>([
    ["does not count", () => fixture.untold("theirs")],
    ["sends no object", (answer) => ({ ...answer, usage: null })],
    ["counts zeros", (answer) => ({ ...answer, usage: zeros(answer["usage"]) })],
    ["counts in fractions", (answer) => ({ ...answer, usage: zeros(answer["usage"], 1.5) })],
    ["counts below zero", (answer) => ({ ...answer, usage: zeros(answer["usage"], -1) })],
  ])("is counted by the gateway if the provider %s, and the client sees what is recorded", async (_name, change) => {
    good.answer(() => Response.json(change(fixture.answer("theirs"))));
    const response = await ask("ours");
    const { usage } = (response.headers.get("content-type") === "application/json" ? await response.json() : {}) as {
      usage?: Json | null;
    };
    const { inputTokens } = endpoint.measure(fixture.body);
    expect(inputTokens).toBeGreaterThan(0);
    const row = await latestRow();
    expect(row).toMatchObject({ inputTokens, estimated: true });
    if (endpoint.addsUsage) expect(usage).toBeObject();
    if (usage == null) return;
    const { prompt_tokens, input_tokens, total_tokens } = usage as Record<string, number>;
    expect(prompt_tokens ?? input_tokens ?? total_tokens).toBe(row!.inputTokens);
    expect(total_tokens).toBe(row!.inputTokens + row!.outputTokens);
    expect(row!.costMicros).toBe(row!.inputTokens + row!.outputTokens);
  });

  test("falls back to the next route, and the failed route's message is not shown", async () => {
    const second = await ask("second");
    expect([second.status, second.headers.get("x-sallyport-route")]).toEqual([200, "good/theirs"]);
    expect(JSON.parse((await latestRow())?.attempts ?? "[]")).toMatchObject([
      { provider: "bad", status: 503 },
      { provider: "good", kind: "ok" },
    ]);
    const down = await ask("down");
    const text = await down.text();
    expect([down.status, text.includes(SECRET)]).toEqual([502, false]);
    expect(await latestRow()).toMatchObject({ status: 502, model: "down" });
  });

  test.each([
    ["a page", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    ["a list", () => Response.json([])],
    ["an error", () => Response.json({ error: { message: "no" } })],
  ])("an answer that is %s is the provider's failure", async (_name, answer) => {
    good.answer(answer);
    expect((await ask("ours")).status).toBe(502);
  });

  test("calls no provider for a refused request", async () => {
    for (const [members, param] of fixture.refused) {
      const response = await ask("ours", members);
      expect([response.status, (await failureOf(response)).param]).toEqual([400, param]);
    }
    for (const [model, status, code] of [
      ["", 400, "invalid_request"],
      ["chats", 400, "wrong_model_family"],
      ["foreign", 400, "wrong_model_family"],
      ["nobody", 404, "model_not_found"],
    ] as const) {
      const response = await ask(model);
      expect([model, response.status, (await failureOf(response)).code]).toEqual([model, status, code]);
    }
    expect(good.received).toEqual([]);
  });

  test("a chat request is told which endpoint the model needs", async () => {
    const response = await app.post("/v1/chat/completions", {
      model: "ours",
      messages: [{ role: "user", content: "x" }],
    });
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code]).toEqual([400, "wrong_model_family"]);
    // If several endpoints take models of this kind, the error names the first one.
    const first = MODEL_ENDPOINTS.find(({ kind }) => kind === endpoint.kind);
    expect(error.message).toContain(first?.path ?? path);
  });

  test("its models are listed with their type", async () => {
    const response = await app.call("/v1/models/ours");
    expect(await response.json()).toMatchObject({ id: "ours", type: endpoint.kind });
  });
});
