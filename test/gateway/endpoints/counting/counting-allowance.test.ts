import { afterAll, expect, test } from "bun:test";
import { FakeClock } from "../../../../src/base/clock.ts";
import {
  COUNTED_BYTES_PER_MINUTE,
  createCountingAllowance,
} from "../../../../src/gateway/endpoints/counting/counting-allowance.ts";
import { startTestApp } from "../../../support/app.ts";

const clock = new FakeClock(Date.now());
const app = await startTestApp({
  clock,
  config: { server: { max_body: "20MiB" } },
});
afterAll(() => app.stop());

const ENDPOINTS = [
  ["/v1/responses/input_tokens", { model: "demo-echo", input: "Say hello." }],
  ["/v1/messages/count_tokens", { model: "demo-echo", messages: [{ role: "user", content: "Say hello." }] }],
] as const;
/** White space is not counted as tokens, but it is read. */
const LARGE = " ".repeat(16 * 1024 * 1024);

test.each(ENDPOINTS)("%s has a ceiling of bytes for each account", async (path, body) => {
  clock.advance(600_000);
  const count = (text: string) =>
    app.call(path, { method: "POST", headers: { "content-type": "application/json" }, body: text });
  const statuses: number[] = [];
  for (let at = 0; at < 5; at++) statuses.push((await count(JSON.stringify(body) + LARGE)).status);
  expect(statuses).toEqual([200, 200, 200, 200, 429]);
  const refused = await count(JSON.stringify(body));
  expect(refused.status).toBe(429);
  const wait = Number(refused.headers.get("retry-after"));
  expect(wait).toBeGreaterThan(0);
  clock.advance(wait * 1000);
  expect((await count(JSON.stringify(body))).status).toBe(200);
});

test("accounts do not share an allowance, and it is not more than full", () => {
  const time = new FakeClock(0);
  const allowance = createCountingAllowance(time);
  const request = (bytes: number) =>
    new Request("http://x/", { method: "POST", headers: { "content-length": String(bytes) } });
  time.advance(3_600_000);
  allowance.enter("a", request(COUNTED_BYTES_PER_MINUTE));
  expect(() => allowance.enter("a", request(1))).toThrow("MiB a minute");
  expect(() => allowance.enter("b", request(1))).not.toThrow();
  time.advance(30_000);
  // A body that did not state its size is counted when it was read.
  allowance.enter("a", new Request("http://x/", { method: "POST" })).read(COUNTED_BYTES_PER_MINUTE);
  expect(() => allowance.enter("a", request(1))).toThrow("Try again in 31 s.");
});

test("a coding agent that counts every turn is never refused", () => {
  const time = new FakeClock(0);
  const allowance = createCountingAllowance(time);
  const request = new Request("http://x/", { method: "POST", headers: { "content-length": "800000" } });
  for (let second = 0; second < 300; second++) {
    allowance.enter("a", request).read(800_000);
    time.advance(1000);
  }
});
