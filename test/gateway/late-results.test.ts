// Results of tools that come late or name no call, over every protocol: a late result is told as the result of its call, and never
// as a failure first; one without a call is told with the name of its tool.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { DIALECTS, KINDS, say } from "../support/fake-model.ts";
import { startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

const upstream = startUpstream((received) => say(received, { text: "ok" }));
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      DIALECTS.map((name) => [
        name,
        { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } },
      ]),
    ),
    models: DIALECTS.map((id) => ({ id, routes: [{ provider: id, model: "up-model" }] })),
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const fn = (name: string) => ({ type: "function", name, parameters: { type: "object", properties: {} }, async: true });
const call = (id: string, name: string) => ({ type: "function_call", call_id: id, name, arguments: "{}" });
const result = (id: string, output: string) => ({ type: "function_call_output", call_id: id, output });
const said = (role: string, content: string) => ({ role, content });
const LATE: [string, Json[]][] = [
  [
    "after other turns",
    [said("user", "go"), call("c1", "f"), said("assistant", "started"), said("user", "and?"), result("c1", "OUT-42")],
  ],
  [
    "after another call",
    [
      said("user", "go"),
      call("c1", "f"),
      call("c2", "g"),
      result("c2", "OUT-7"),
      call("c3", "g"),
      result("c3", "OUT-8"),
      result("c1", "OUT-42"),
    ],
  ],
];

describe.each(LATE)("a result %s", (_name, input) => {
  test.each(DIALECTS)("is no failure over %s", async (model) => {
    const response = await app.post("/v1/responses", { model, tools: [fn("f"), fn("g")], input });
    expect(response.status).toBe(200);
    const text = upstream.received[0]?.text ?? "";
    expect(text.match(/OUT-42/g)).toHaveLength(1);
    expect(text).not.toContain("No result was given");
    expect(text).not.toContain("is_error");
  });
});

describe("a result without a call", () => {
  const bare: Json = { type: "function_call_output", name: "f", output: "42" };
  test.each([
    ["a name", bare, "Result of the tool f: 42"],
    ["null as its call", { ...bare, call_id: null }, "Result of the tool f: 42"],
    ["parts", { ...bare, output: [{ type: "input_text", text: "42" }] }, "Result of the tool f: 42"],
    ["no name", { type: "function_call_output", output: "42" }, "Result of a tool: 42"],
  ])("with %s is told by every other protocol, and unchanged by its own", async (_name, item, told) => {
    const input = [said("user", "go"), item];
    for (const model of DIALECTS) {
      upstream.received.length = 0;
      expect((await app.post("/v1/responses", { model, input })).status).toBe(200);
      const [received] = upstream.received;
      if (model === "openai-responses") expect(received?.json).toMatchObject({ input });
      else expect(received?.text).toContain(told);
    }
  });
});
