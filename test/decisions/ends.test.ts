import { afterEach, expect, test } from "bun:test";
import { type Gateway, startGateway } from "./support.ts";

const open: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

interface Silent {
  gateway: Gateway;
  /** The number of calls so far. */
  calls(): number;
  came: Promise<void>;
  ended: Promise<void>;
}

/** An upstream that accepts calls and never answers. It reports when the calls arrive and when the first one ends. */
async function silent(timeout: string): Promise<Silent> {
  const came = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let calls = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      calls += 1;
      request.signal.addEventListener("abort", () => ended.resolve());
      came.resolve();
      return new Promise<Response>(() => {});
    },
  });
  open.push({ stop: () => server.stop(true) });
  const provider = (kind: string) => ({ kind, base_url: `http://127.0.0.1:${server.port}/v1`, discover: false });
  const model = (id: string, kind: string, concurrency: number) => ({
    id,
    prices: { input: 1000 },
    backend: {
      kind,
      prior: "none",
      concurrency,
      routes: [{ provider: kind === "logprobs" ? "chat" : "native", model: "m" }],
    },
  });
  const gateway = await startGateway({
    server: { request_timeout: timeout },
    providers: { native: provider("systemone"), chat: provider("openai") },
    decisions: { models: [model("d-1.0.0", "systemone", 8), model("letters-1.0.0", "logprobs", 2)] },
  });
  open.push(gateway);
  return { gateway, calls: () => calls, came: came.promise, ended: ended.promise };
}

const ASKED = { model: "d-1.0.0", state: "s", questions: { q: { type: "noul", instructions: "?" } } };

test("an upstream that never answers is 503 when the time is up, and the call ends", async () => {
  const { gateway, ended } = await silent("200ms");
  const { status, body } = await gateway.post("/v1/systemone", ASKED, await gateway.key());
  expect([status, body.error.code]).toEqual([503, "decision_unavailable"]);
  await ended;
});

test("a provider that does not answer in time is skipped after a while, and the client gets a Retry-After", async () => {
  const { gateway, calls } = await silent("100ms");
  const key = await gateway.key();
  for (let tries = 0; tries < 5; tries++) await gateway.post("/v1/systemone", ASKED, key);
  const before = calls();
  const { status, headers } = await gateway.post("/v1/systemone", ASKED, key);
  expect([status, calls() - before]).toEqual([503, 0]);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
});

/** Sends a question and leaves as soon as the upstream was called. */
async function askAndLeave({ gateway, came }: Silent, body: unknown): Promise<void> {
  const abort = new AbortController();
  const asked = fetch(`${gateway.url}/v1/systemone`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${await gateway.key()}`,
      "content-type": "application/json",
      "x-request-id": "left",
    },
    body: JSON.stringify(body),
    signal: abort.signal,
  });
  await came;
  abort.abort();
  await expect(asked).rejects.toThrow();
}

test("the calls of a client that disconnects end, and its usage row says so", async () => {
  const upstream = await silent("60s");
  await askAndLeave(upstream, { ...ASKED, state: "some words to count" });
  await upstream.ended;
  const { gateway } = upstream;
  let rows: Record<string, unknown>[] = [];
  const line = () => gateway.logs.map((text) => JSON.parse(text)).find((one) => one.request_id === "left");
  while (rows.length === 0 || line() === undefined) rows = await gateway.usage(1);
  expect(rows).toHaveLength(1);
  // The tokens that were sent are charged, as at the start of a stream. It does not count as a failure of the model.
  expect(rows[0]).toMatchObject({ status: 408, error_code: "client_gone", input_tokens: 5, estimated: 1 });
  expect(rows[0]!["cost_micros"]).toBe(5000);
  expect(line()).toMatchObject({ status: 408, client_gone: true, error: "request_timeout" });
});

test("no more calls are made for a client that disconnects, and its places are free", async () => {
  const upstream = await silent("60s");
  const questions = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`q${at}`, ASKED.questions.q]));
  await askAndLeave(upstream, { model: "letters-1.0.0", state: "s", questions });
  await upstream.ended;
  await upstream.gateway.usage(1);
  // Two calls run at the same time. The other eighteen were never sent.
  expect(upstream.calls()).toBe(2);
});
