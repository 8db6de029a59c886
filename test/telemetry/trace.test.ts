import { afterEach, describe, expect, test } from "bun:test";
import { genAiAnswerAttributes, genAiCallAttributes, genAiSpanName } from "../../src/telemetry/genai.ts";
import { traceHeaders } from "../../src/telemetry/span.ts";
import { loadTracer } from "../../src/telemetry/trace.ts";
import { tracingFromEnv } from "../../src/telemetry/trace-settings.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";

type Attribute = { key: string; value: Record<string, unknown> };
type Sent = {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: {
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        name: string;
        kind: number;
        attributes: Attribute[];
        status: { code?: number };
      }[];
    }[];
  }[];
};

const servers: { stop(): unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop();
});

/** The HTTP endpoint of a collector, as the protocol describes it. */
function collector(...statuses: number[]) {
  const got: { path: string; type: string | null; key: string | null; body: Buffer }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { headers } = request;
      const body = Buffer.from(await request.arrayBuffer());
      got.push({
        path: new URL(request.url).pathname,
        type: headers.get("content-type"),
        key: headers.get("x-key"),
        body,
      });
      return new Response(null, { status: statuses.shift() ?? 200 });
    },
  });
  servers.push(server);
  return { got, endpoint: `http://127.0.0.1:${server.port}` };
}

function settings(env: Record<string, string>) {
  const result = tracingFromEnv(env, "1.2.3");
  expect(result.warnings).toEqual([]);
  return result.settings!;
}

async function traceOne(env: Record<string, string>, headers: Record<string, string>) {
  const complaints: string[] = [];
  const tracer = await loadTracer(settings(env), (message) => complaints.push(message));
  const request = tracer.request("POST /v1/chat/completions", new Headers(headers), {
    "http.route": "/v1/chat/completions",
  });
  const call = request.child(
    genAiSpanName("gpt-x"),
    genAiCallAttributes({
      dialect: "openai-chat",
      model: "gpt-x",
      baseUrl: "http://127.0.0.1:9/v1",
      stream: true,
      maxTokens: 7,
    }),
  );
  call.set(genAiAnswerAttributes({ model: "gpt-x-1", finishReasons: ["stop"], inputTokens: 3, outputTokens: 4 }));
  call.end();
  request.fail("provider_timeout");
  request.end();
  await tracer.stop();
  return { complaints, request, call };
}

const attributes = (list: Attribute[]) =>
  Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));

test("spans reach a collector with their parents, resource and attributes", async () => {
  const { got, endpoint } = collector();
  const { request, call } = await traceOne(
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/`,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,service.name=ignored",
      OTEL_SERVICE_NAME: "gate",
    },
    { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: "v=1" },
  );
  expect(got.map(({ path, type, key }) => [path, type, key])).toEqual([["/v1/traces", "application/json", "a b"]]);
  const sent = JSON.parse(got[0]!.body.toString()) as Sent;
  expect(attributes(sent.resourceSpans[0]!.resource.attributes)).toMatchObject({
    "service.name": "gate",
    "service.version": "1.2.3",
    "deployment.environment.name": "test",
  });
  const spans = sent.resourceSpans[0]!.scopeSpans[0]!.spans;
  const server = spans.find(({ name }) => name === "POST /v1/chat/completions")!;
  const client = spans.find(({ name }) => name === "chat gpt-x")!;
  expect([server.traceId, server.parentSpanId, server.kind, server.status.code]).toEqual([TRACE, PARENT, 2, 2]);
  expect([client.traceId, client.parentSpanId, client.kind]).toEqual([TRACE, server.spanId, 3]);
  expect(attributes(server.attributes)).toEqual({
    "http.route": "/v1/chat/completions",
    "error.type": "provider_timeout",
  });
  expect(attributes(client.attributes)).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-x",
    "gen_ai.request.max_tokens": 7,
    "gen_ai.response.model": "gpt-x-1",
    "gen_ai.usage.input_tokens": 3,
    "gen_ai.usage.output_tokens": 4,
    "server.address": "127.0.0.1",
    "server.port": 9,
  });
  // The upstream continues the client's trace, below the span of the call.
  expect(call.headers).toEqual({ traceparent: `00-${TRACE}-${client.spanId}-01`, tracestate: "v=1" });
  expect(request.headers["traceparent"]).toBe(`00-${TRACE}-${server.spanId}-01`);
});

test("the standard's own protocol is protobuf", async () => {
  const { got, endpoint } = collector();
  await traceOne({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${endpoint}/own/path` }, {});
  expect(got.map(({ path, type }) => [path, type])).toEqual([["/own/path", "application/x-protobuf"]]);
  expect(got[0]?.body.toString("latin1")).toContain("gen_ai.request.model");
});

test.each([
  ["a parent that is not sampled", {}, "00"],
  ["always_off", { OTEL_TRACES_SAMPLER: "always_off" }, "01"],
  ["a ratio of nothing", { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0" }, "01"],
])("%s: nothing is sent, the context still goes on", async (_name, env, flags) => {
  const { got, endpoint } = collector();
  const { call } = await traceOne(
    { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...env },
    { traceparent: `00-${TRACE}-${PARENT}-${flags}` },
  );
  expect(got).toEqual([]);
  expect(call.headers["traceparent"]).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
});

test("a collector that refuses is complained about, and holds nothing up", async () => {
  const { endpoint } = collector(400);
  const { complaints } = await traceOne({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, {});
  expect(complaints).toHaveLength(1);
});

test("a collector that is busy is asked again with the same spans", async () => {
  const { got, endpoint } = collector(503, 200);
  const { complaints } = await traceOne({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, {});
  expect(complaints).toEqual([]);
  expect(got).toHaveLength(2);
  expect(got[1]?.body).toEqual(got[0]?.body as Buffer);
});

describe("settings", () => {
  test.each<[string, Record<string, string>]>([
    ["nothing set", {}],
    ["an empty endpoint", { OTEL_EXPORTER_OTLP_ENDPOINT: "" }],
    ["disabled", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://h:4318", OTEL_SDK_DISABLED: "TRUE" }],
    ["no exporter", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://h:4318", OTEL_TRACES_EXPORTER: "none" }],
  ])("off: %s", (_name, env) => expect(tracingFromEnv(env, "1")).toEqual({ warnings: [] }));

  test.each<[Record<string, string>, string]>([
    [{ OTEL_TRACES_EXPORTER: "zipkin" }, "OTEL_TRACES_EXPORTER"],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://h", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, "OTEL_EXPORTER_OTLP_PROTOCOL"],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "h:4318" }, "OTEL_EXPORTER_OTLP_ENDPOINT"],
  ])("what cannot be honoured is said and turns tracing off: %p", (env, names) => {
    const { settings, warnings } = tracingFromEnv(env, "1");
    expect(settings).toBeUndefined();
    expect(warnings.join()).toContain(names);
  });

  test.each<[Record<string, string>, string]>([
    [{ OTEL_TRACES_SAMPLER: "jaeger_remote" }, "OTEL_TRACES_SAMPLER"],
    [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" }, "OTEL_TRACES_SAMPLER_ARG"],
    [{ OTEL_BSP_MAX_QUEUE_SIZE: "many" }, "OTEL_BSP_MAX_QUEUE_SIZE"],
  ])("what can be replaced is said and replaced: %p", (env, names) => {
    const { settings, warnings } = tracingFromEnv({ OTEL_TRACES_EXPORTER: "otlp", ...env }, "1");
    expect(settings).toMatchObject({
      url: "http://localhost:4318/v1/traces",
      sampler: { ratio: 1 },
      batch: { queueMax: 2048, sizeMax: 512 },
    });
    expect(warnings.join()).toContain(names);
  });

  test("a batch is never larger than the queue", () => {
    const env = { OTEL_TRACES_EXPORTER: "otlp", OTEL_BSP_MAX_QUEUE_SIZE: "10" };
    expect(tracingFromEnv(env, "1").settings?.batch).toEqual({ queueMax: 10, sizeMax: 10, delayMs: 5000 });
  });
});

const VALID = `00-${TRACE}-${PARENT}-01`;
test.each<[string, Record<string, string>, Record<string, string>]>([
  ["none", {}, {}],
  ["valid", { traceparent: VALID }, { traceparent: VALID }],
  ["with state", { traceparent: VALID, tracestate: "a=1" }, { traceparent: VALID, tracestate: "a=1" }],
  ["state alone", { tracestate: "a=1" }, {}],
  ["state too long", { traceparent: VALID, tracestate: `a=${"x".repeat(600)}` }, { traceparent: VALID }],
  ["capitals", { traceparent: VALID.toUpperCase() }, {}],
  ["a zero trace", { traceparent: `00-${"0".repeat(32)}-${PARENT}-01` }, {}],
  ["a zero span", { traceparent: `00-${TRACE}-${"0".repeat(16)}-01` }, {}],
  ["version ff", { traceparent: `ff-${TRACE}-${PARENT}-01` }, {}],
  ["junk", { traceparent: "hello" }, {}],
])("the client's trace context: %s", (_name, headers, want) =>
  expect(traceHeaders(new Headers(headers))).toEqual(want),
);

test.each([
  ["https://api.openai.com/v1", "openai-responses", "openai", 443],
  ["https://api.anthropic.com/v1", "anthropic-messages", "anthropic", 443],
  ["https://generativelanguage.googleapis.com/v1beta", "gemini", "gcp.gemini", 443],
  ["https://api.mistral.ai/v1", "openai-chat", "mistral_ai", 443],
  ["http://localhost:11434/v1", "openai-chat", "openai", 11434],
  ["http://claude.internal/v1", "anthropic-messages", "anthropic", 80],
])("%s speaking %s is %s", (baseUrl, dialect, provider, port) => {
  expect(genAiCallAttributes({ baseUrl, dialect, model: "m", stream: false })).toMatchObject({
    "gen_ai.provider.name": provider,
    "server.port": port,
  });
});
