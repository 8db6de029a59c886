import { afterEach, expect, test } from "bun:test";
import { type Gateway, startGateway } from "./support.ts";

const open: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

/** An upstream that takes calls and never answers; tells when they come and when they end. */
async function silent(timeout: string): Promise<{ gateway: Gateway; came: Promise<void>; ended: Promise<void> }> {
  const came = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      request.signal.addEventListener("abort", () => ended.resolve());
      came.resolve();
      return new Promise<Response>(() => {});
    },
  });
  open.push({ stop: () => server.stop(true) });
  const gateway = await startGateway({
    server: { request_timeout: timeout },
    providers: { native: { kind: "systemone", base_url: `http://127.0.0.1:${server.port}/v1`, discover: false } },
    decisions: {
      models: [{ id: "d-1.0.0", backend: { kind: "systemone", routes: [{ provider: "native", model: "m" }] } }],
    },
  });
  open.push(gateway);
  return { gateway, came: came.promise, ended: ended.promise };
}

const ASKED = { model: "d-1.0.0", state: "s", questions: { q: { type: "noul", instructions: "?" } } };

test("an upstream that never answers is 503 when the time is up, and the call ends", async () => {
  const { gateway, ended } = await silent("200ms");
  const { status, body } = await gateway.post("/v1/systemone", ASKED, await gateway.key());
  expect([status, body.error.code]).toEqual([503, "decision_unavailable"]);
  await ended;
});

test("the calls of a client that goes away end", async () => {
  const { gateway, came, ended } = await silent("60s");
  const abort = new AbortController();
  const asked = fetch(`${gateway.url}/v1/systemone`, {
    method: "POST",
    headers: { authorization: `Bearer ${await gateway.key()}`, "content-type": "application/json" },
    body: JSON.stringify(ASKED),
    signal: abort.signal,
  });
  await came;
  abort.abort();
  await expect(asked).rejects.toThrow();
  await ended;
});
