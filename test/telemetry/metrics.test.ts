import { expect, test } from "bun:test";
import fc from "fast-check";
import parsePrometheusTextFormat from "parse-prometheus-text-format";
import { breakerReading, createMetrics } from "../../src/telemetry/metrics.ts";
import { Registry } from "../../src/telemetry/registry.ts";
import { anyText } from "../support/any-text.ts";

type Parsed = {
  name: string;
  type: string;
  metrics: {
    labels?: Record<string, string>;
    value?: string;
    buckets?: Record<string, string>;
    count?: string;
    sum?: string;
  }[];
};
const parse = (text: string) =>
  new Map((parsePrometheusTextFormat(text) as Parsed[]).map((family) => [family.name, family]));

const make = (over = {}) => createMetrics({ version: "1.2.3", commit: "abc", startedAtMs: 5000, ...over });

test("a real parser reads everything that was counted", () => {
  const metrics = make();
  metrics.request("/v1/chat/completions", 200, 0.03);
  metrics.request("/v1/chat/completions", 200, 400);
  metrics.request("/v1/models/*", 404, 0.001);
  metrics.error("model_not_found");
  metrics.firstByte("/v1/chat/completions", 0.2);
  metrics.upstream("openai", "ok", 1);
  metrics.upstream("openai", "timeout", 120);
  metrics.retried("openai");
  metrics.tokens("fast", { inputTokens: 10, outputTokens: 5, cachedTokens: 3 });
  metrics.tokens("fast", { inputTokens: 1, outputTokens: 2, reasoningTokens: 2, cacheWriteTokens: 0 });
  metrics.costMicros("fast", 1_500_000);
  metrics.rateLimited();
  metrics.streamOpened();
  metrics.streamOpened();
  metrics.streamClosed();
  metrics.database("findLiveKey", 0.000_02);
  metrics.gauge("sallyport_breaker_state", "x", ["provider", "state"], () =>
    breakerReading(new Map([["openai", { state: "open" }]])),
  );
  const page = parse(metrics.render());
  const rows = (name: string) =>
    page.get(name)?.metrics.map(({ labels = {}, value }) => [...Object.values(labels), value]);
  expect(rows("sallyport_requests_total")).toEqual([
    ["/v1/chat/completions", "200", "2"],
    ["/v1/models/*", "404", "1"],
  ]);
  expect(page.get("sallyport_request_duration_seconds")?.type).toBe("HISTOGRAM");
  expect(page.get("sallyport_first_byte_seconds")?.metrics[0]?.buckets).toMatchObject({ "0.1": "0", "0.25": "1" });
  expect(rows("sallyport_errors_total")).toEqual([["model_not_found", "1"]]);
  expect(rows("sallyport_upstream_requests_total")).toEqual([
    ["openai", "ok", "1"],
    ["openai", "timeout", "1"],
  ]);
  expect(rows("sallyport_upstream_retries_total")).toEqual([["openai", "1"]]);
  expect(rows("sallyport_tokens_total")).toEqual([
    ["fast", "input", "11"],
    ["fast", "output", "7"],
    ["fast", "cached", "3"],
    ["fast", "reasoning", "2"],
  ]);
  expect(rows("sallyport_cost_usd_total")).toEqual([["fast", "1.5"]]);
  expect(rows("sallyport_rate_limited_total")).toEqual([["1"]]);
  expect(rows("sallyport_open_streams")).toEqual([["1"]]);
  expect(page.get("sallyport_database_seconds")?.metrics[0]?.buckets).toMatchObject({ "0.00005": "1", "+Inf": "1" });
  expect(rows("sallyport_breaker_state")).toEqual([
    ["openai", "closed", "0"],
    ["openai", "half_open", "0"],
    ["openai", "open", "1"],
  ]);
  expect(rows("sallyport_build_info")).toEqual([["1.2.3", "abc", "1"]]);
  expect(rows("process_start_time_seconds")).toEqual([["5"]]);
  expect(Number(rows("process_resident_memory_bytes")?.[0]?.[0])).toBeGreaterThan(1e6);
});

// The parser merges the series of a histogram, so they are separated here.
test("buckets are cumulative, a bound belongs to its bucket, and count and sum agree", () => {
  const metrics = make();
  for (const seconds of [0.005, 0.006, 1, 400]) metrics.request("/a", 200, seconds);
  metrics.request("/b", 200, 2);
  const lines = metrics.render().split("\n");
  const value = (series: string) =>
    lines.find((line) => line.startsWith(`sallyport_request_duration_seconds${series} `));
  const bucket = (le: string, route = "/a") => value(`_bucket{route="${route}",le="${le}"}`)?.split(" ").at(-1);
  expect(["0.005", "0.01", "0.5", "1", "300", "+Inf"].map((le) => bucket(le))).toEqual(["1", "2", "2", "3", "3", "4"]);
  expect([bucket("1", "/b"), bucket("2.5", "/b")]).toEqual(["0", "1"]);
  expect(value('_count{route="/a"}')).toEndWith(" 4");
  expect(value('_sum{route="/a"}')).toEndWith(" 401.011");
});

test("a page without any traffic is already whole", () => {
  const page = parse(make().render());
  expect(page.get("sallyport_rate_limited_total")?.metrics[0]?.value).toBe("0");
  expect(page.get("sallyport_open_streams")?.metrics[0]?.value).toBe("0");
});

test("what is called a total is a counter, and nothing else is", () => {
  const types = [
    ...make()
      .render()
      .matchAll(/^# TYPE (\S+) (\S+)$/gm),
  ];
  expect(types.length).toBeGreaterThan(10);
  for (const [, name, type] of types) expect([name, type === "counter"]).toEqual([name, name?.endsWith("_total")]);
});

test("models may be renamed for the page", () => {
  const metrics = make({ modelLabel: (model: string) => (model === "secret" ? "hidden" : model) });
  metrics.tokens("secret", { inputTokens: 1, outputTokens: 1 });
  metrics.costMicros("secret", 1);
  expect(metrics.render()).not.toContain("secret");
});

test("series are bounded: what comes later is counted together, and nothing is lost", () => {
  const metrics = make();
  for (let at = 0; at < 5000; at++) {
    metrics.error(`code${at}`);
    metrics.upstream(`provider${at}`, "ok", 1);
  }
  const page = parse(metrics.render());
  for (const name of ["sallyport_errors_total", "sallyport_upstream_requests_total"]) {
    const rows = page.get(name)!.metrics;
    expect(rows.length).toBeLessThanOrEqual(1001);
    expect(rows.reduce((sum, { value }) => sum + Number(value), 0)).toBe(5000);
  }
  metrics.error("code7");
  metrics.error("other");
  expect(metrics.render()).toContain('sallyport_errors_total{code="code7"} 2\n');
});

test("statuses that are none do not make series", () => {
  const metrics = make();
  for (let at = 0; at < 2000; at++) metrics.request("/x", 1000 + at, 0);
  expect(parse(metrics.render()).get("sallyport_requests_total")?.metrics).toEqual([
    { labels: { route: "/x", status: "other" }, value: "2000" },
  ] as never);
});

test("any label value survives the text format", () => {
  fc.assert(
    fc.property(fc.array(anyText(), { minLength: 1, maxLength: 5 }), (values) => {
      const registry = new Registry();
      const family = registry.counter("x_total", "back\\slash\nand line", ["a"]);
      for (const value of values) family.get(value).inc();
      const text = registry.render();
      // One line for each series and two lines at the start: no value contains a line break.
      expect(text.split("\n")).toHaveLength(new Set(values).size + 3);
      const read = [...text.matchAll(/^x_total\{a="((?:[^"\\]|\\.)*)"\}/gms)].map(([, value]) =>
        value!.replace(/\\(.)/gs, (_, c: string) => (c === "n" ? "\n" : c)),
      );
      expect(new Set(read)).toEqual(new Set(values));
    }),
  );
});

test("two metrics of one name are a mistake", () => {
  const registry = new Registry();
  registry.counter("x_total", "", []);
  expect(() => registry.counter("x_total", "", [])).toThrow("x_total");
});
