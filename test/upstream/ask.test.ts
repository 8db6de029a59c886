import { expect, test } from "bun:test";
import { fetchAnswer } from "../../src/upstream/ask.ts";
import { configureProvider } from "../../src/upstream/configure.ts";
import { UpstreamFault } from "../../src/upstream/fault.ts";
import type { Provider } from "../../src/upstream/provider.ts";

const REQUEST = { path: "/chat/completions", headers: {}, body: "{}", dropped: [] };

/** A provider with two keys, and the keys that it received. The key `refused` is answered with the status. */
function twoKeys(refused: string, status: number) {
  const heard: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const key = request.headers.get("authorization")?.replace("Bearer ", "") ?? "";
      heard.push(key);
      return key === refused ? Response.json({ error: { message: "no" } }, { status }) : Response.json({ ok: true });
    },
  });
  const provider = configureProvider({
    name: "up",
    kind: "openai",
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    apiKeys: ["first", "second"],
    headers: {},
    quirks: {},
    timeoutMs: { connect: 5000, firstByte: 5000, idle: 5000 },
    retry: { attempts: 1, baseMs: 1, maxMs: 1 },
  } as unknown as Parameters<typeof configureProvider>[0]) as Provider;
  return { provider, heard, stop: () => server.stop(true) };
}

test.each([
  // The second value is whether the key is skipped afterwards.
  [401, true],
  [403, true],
  [429, true],
  [400, false],
  [500, false],
])("a key that gets a %d is skipped for a while: %p", async (status, rests) => {
  const { provider, heard, stop } = twoKeys("first", status);
  try {
    const clock = { now: () => 1000 } as Parameters<typeof fetchAnswer>[2]["clock"];
    const ask = () => fetchAnswer(provider, REQUEST, { clock, signal: new AbortController().signal });
    await expect(ask()).rejects.toBeInstanceOf(UpstreamFault);
    for (let i = 0; i < 2; i++) await ask().catch(() => undefined);
    expect(heard).toEqual(rests ? ["first", "second", "second"] : ["first", "second", "first"]);
  } finally {
    stop();
  }
});

test("the answer is returned completely, with its headers", async () => {
  const { provider, stop } = twoKeys("none", 500);
  try {
    const clock = { now: () => 1000 } as Parameters<typeof fetchAnswer>[2]["clock"];
    const asked = await fetchAnswer(provider, REQUEST, { clock, signal: new AbortController().signal });
    expect(asked.text).toBe('{"ok":true}');
    expect(asked.headers.get("content-type")).toContain("application/json");
  } finally {
    stop();
  }
});
