import { expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import { createModelHealth, type ModelHealthDeps, type RequestOutcome } from "../../src/status/model-health.ts";
import type { ModelKind } from "../../src/vendors/model-kind.ts";

const fine = (latencyMs = 10): RequestOutcome => ({ status: 200, errorCode: null, latencyMs });
const failed = (errorCode: string | null = "provider_unavailable", status = 502) => ({
  status,
  errorCode,
  latencyMs: 5,
});
const many = (n: number, outcome: RequestOutcome) => Array.from({ length: n }, () => outcome);

const TWO = [
  { provider: "a", model: "x" },
  { provider: "b", model: "y" },
];

interface World {
  outcomes?: RequestOutcome[];
  open?: string[];
  listed?: Record<string, boolean>;
  routes?: { provider: string; model: string }[];
  probe?: ModelHealthDeps["probe"];
  kind?: ModelKind;
}

async function judged({ outcomes = [], open = [], listed = {}, routes = TWO, probe, kind = "chat" }: World) {
  const clock = new FakeClock();
  const health = createModelHealth({
    clock,
    intervalMs: () => 60_000,
    models: () => [{ id: "m", routes, kind }],
    recent: async (_model, { sinceMs, limit }) => {
      expect(clock.now() - sinceMs).toBe(15 * 60_000);
      return outcomes.slice(0, limit);
    },
    failed: () => {},
    breakerOpen: (provider) => open.includes(provider),
    listed: (provider, model) => listed[`${provider}/${model}`],
    probe,
  });
  await health.refresh();
  return health.view();
}

test.each<[string, World, string]>([
  ["nothing is known of it", {}, "unknown"],
  ["one request was answered", { outcomes: [fine()] }, "healthy"],
  ["all breakers open, whatever the traffic said", { outcomes: many(9, fine()), open: ["a", "b"] }, "unavailable"],
  ["one breaker open, traffic fine", { outcomes: many(9, fine()), open: ["a"] }, "healthy"],
  ["one breaker open, no traffic", { open: ["a"] }, "degraded"],
  ["just under a tenth failed", { outcomes: [...many(10, fine()), failed()] }, "healthy"],
  ["a tenth failed", { outcomes: [...many(9, fine()), failed()] }, "degraded"],
  ["half failed", { outcomes: [...many(2, fine()), ...many(2, failed())] }, "unavailable"],
  ["a stream broke off", { outcomes: many(3, failed("provider_stream_interrupted", 200)) }, "unavailable"],
  ["two failures are too few to tell", { outcomes: many(2, failed()) }, "unknown"],
  ["the client's mistakes do not count", { outcomes: many(9, failed("invalid_request", 400)) }, "unknown"],
  ["nor do its departures", { outcomes: [...many(3, fine()), ...many(9, failed(null, 499))] }, "healthy"],
  ["both listed", { listed: { "a/x": true, "b/y": true } }, "healthy"],
  ["one list without it", { listed: { "a/x": false, "b/y": true } }, "degraded"],
  ["no list has it", { listed: { "a/x": false, "b/y": false } }, "unavailable"],
  ["listed nowhere, but it works", { listed: { "a/x": false, "b/y": false }, outcomes: many(3, fine()) }, "healthy"],
  ["one breaker open, the other list without it", { open: ["a"], listed: { "b/y": false } }, "unavailable"],
  ["the probe answers", { probe: async () => true, listed: { "a/x": false, "b/y": false } }, "healthy"],
  ["the probe fails", { probe: async () => false }, "unavailable"],
  ["the probe throws", { probe: () => Promise.reject(new Error("refused")) }, "unavailable"],
  ["what cannot chat is not probed", { probe: async () => false, kind: "embedding" }, "unknown"],
  ["its lists speak for it", { probe: async () => true, kind: "image", listed: { "a/x": false } }, "degraded"],
  ["traffic spares the probe", { probe: async () => false, outcomes: many(3, fine()) }, "healthy"],
])("the health of a model follows from traffic, probes and lists: %s", async (_name, world, status) => {
  expect((await judged(world)).models[0]?.status as string).toBe(status);
});

test("latencies are those of answers, by nearest rank", async () => {
  const outcomes = [...Array.from({ length: 100 }, (_, at) => fine(at + 1)), failed()];
  const { models, refreshed_at } = await judged({ outcomes });
  const at = new Date(new FakeClock().now()).toISOString();
  expect(models).toEqual([{ id: "m", status: "healthy", last_checked: at, latency_p50_ms: 50, latency_p99_ms: 99 }]);
  expect(refreshed_at).toBe(at);
});

test("without answers there is no latency", async () => {
  expect(Object.keys((await judged({})).models[0]!)).toEqual(["id", "status", "last_checked"]);
});

test("a model of which nothing is known was not checked again", async () => {
  const clock = new FakeClock();
  const health = createModelHealth({
    clock,
    intervalMs: () => 60_000,
    models: () => ["seen", "unseen"].map((id) => ({ id, routes: [{ provider: id, model: "x" }] })),
    recent: async () => [],
    failed: () => {},
    breakerOpen: () => false,
    listed: (provider) => (provider === "seen" ? true : undefined),
  });
  await health.refresh();
  const before = health.view().models.map((model) => model.last_checked);
  clock.advance(60_000);
  await health.refresh();
  const after = health.view().models.map((model) => model.last_checked);
  expect(after.map((at, of) => Date.parse(at) - Date.parse(before[of]!))).toEqual([60_000, 0]);
});

test("before the first round there is nothing to show; a failing round leaves the last one standing", async () => {
  let down = false;
  const health = createModelHealth({
    clock: new FakeClock(),
    intervalMs: () => 60_000,
    models: () => [{ id: "m", routes: TWO }],
    recent: () => (down ? Promise.reject(new Error("disk")) : Promise.resolve([])),
    failed: () => {},
    breakerOpen: () => false,
    listed: () => undefined,
  });
  expect(health.view()).toEqual({ models: [], refreshed_at: null });
  await health.refresh();
  down = true;
  expect(health.refresh()).rejects.toThrow("disk");
  await health.refresh().catch(() => {});
  expect(health.view().models).toHaveLength(1);
});

test("parallel refreshes are one round; every model of a long list is judged", async () => {
  let asked = 0;
  const models = Array.from({ length: 120 }, (_, at) => ({ id: `m${at}`, routes: TWO }));
  const health = createModelHealth({
    clock: new FakeClock(),
    intervalMs: () => 60_000,
    models: () => models,
    recent: async () => {
      asked++;
      return [];
    },
    failed: () => {},
    breakerOpen: () => false,
    listed: () => undefined,
  });
  await Promise.all([health.refresh(), health.refresh()]);
  expect(asked).toBe(120);
  expect(health.view().models.map((model) => model.id)).toEqual(models.map((model) => model.id));
});
