// If a client leaves or cancels, the work for it ends, but no other work does. A client that requests progress receives it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { RunningCalls } from "../../src/mcp/running-calls.ts";
import type { JsonRecord } from "../../src/mcp/tool.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { webConfig } from "../web/support.ts";
import {
  type AnyClient,
  CLIENTS,
  hangingPage,
  messagesOf,
  modernRequest,
  olderRequest,
  withClient,
} from "./support.ts";

const slow = hangingPage();
let site: FakeSite;
let app: TestApp;

beforeAll(async () => {
  site = startFakeSite({
    "/slow": slow.page,
    "/": page("Root", ["/a", "/b", "/c"]),
    "/a": page("A"),
    "/b": page("B"),
    "/c": page("C"),
    "/robots.txt": () => new Response(""),
  });
  app = await startTestApp({ key: { rpm: 1_000_000 }, config: webConfig([site.host], { per_host_delay: "0ms" }) });
});
afterAll(async () => {
  await app.stop();
  await site.stop();
});

const SCRAPE = () => ({ name: "scrape", arguments: { url: `${site.url}/slow` } });
const call = (init: RequestInit) => fetch(`${app.url}/mcp`, init);

/** The log line of a request, as soon as it exists. */
async function lineOf(id: string, path: string): Promise<JsonRecord> {
  for (;;) {
    await app.flushLogs();
    const line = app.logs.find((one) => one["request_id"] === id && one["path"] === path);
    if (line !== undefined) return line;
    await Bun.sleep(10);
  }
}

describe("a client that disconnects", () => {
  test.each([
    [
      "the revision without sessions",
      (id: string) => modernRequest(app, "tools/call", SCRAPE(), { "x-request-id": id }),
    ],
    [
      "a revision of 2025",
      (id: string) =>
        olderRequest(app, { jsonrpc: "2.0", id: 1, method: "tools/call", params: SCRAPE() }, { "x-request-id": id }),
    ],
  ])("ends the page's request: %s", async (name, init) => {
    const id = `leaves-${name.length}`;
    const visit = slow.visited();
    const stop = new AbortController();
    const answer = call({ ...init(id), signal: stop.signal }).then((response) => response.text());
    const { gone } = await visit;
    stop.abort();
    await answer.catch(() => undefined);
    await gone;
    expect(await lineOf(id, "/v1/scrape")).toMatchObject({ client_gone: true, via: "mcp" });
    await lineOf(id, "/mcp");
  });

  test("ends each call of a batch", async () => {
    const batch = [1, 2].map((id) => ({ jsonrpc: "2.0", id, method: "tools/call", params: SCRAPE() }));
    const first = slow.visited();
    const stop = new AbortController();
    const init = olderRequest(app, batch, { "mcp-protocol-version": "2025-03-26" });
    const answer = call({ ...init, signal: stop.signal }).then((response) => response.text());
    const { gone } = await first;
    stop.abort();
    await answer.catch(() => undefined);
    await gone;
  });

  test("ends a crawl that it waits for, and none that it only started", async () => {
    await withClient(app, async (client) => {
      const visit = slow.visited();
      const stop = new AbortController();
      const waited = client.call("crawl", { url: `${site.url}/slow`, wait_seconds: 60 }, { signal: stop.signal });
      const { gone } = await visit;
      stop.abort(new Error("enough"));
      await waited.catch(() => undefined);
      await gone;
      const after = slow.visited();
      const started = await client.call("crawl", { url: `${site.url}/slow` });
      await after;
      const job = await client.call("crawl_status", { job_id: started.structuredContent?.["job_id"] });
      expect(job.structuredContent).toMatchObject({ status: "scraping" });
    });
  });

  test("ends an llms.txt that it waits for", async () => {
    const visit = slow.visited();
    const stop = new AbortController();
    const params = { name: "llmstxt", arguments: { url: `${site.url}/slow` } };
    const answer = call({ ...modernRequest(app, "tools/call", params), signal: stop.signal });
    const { gone } = await visit;
    stop.abort();
    await answer.catch(() => undefined);
    await gone;
  });
});

describe("a client of 2025 that cancels by a message", () => {
  const started = async (headers: Record<string, string> = {}) => {
    const visit = slow.visited();
    const message = { jsonrpc: "2.0", id: "one", method: "tools/call", params: SCRAPE() };
    const answer = call(olderRequest(app, message, { "user-agent": "agent/1", ...headers }));
    const { gone } = await visit;
    return { answer, gone };
  };
  const cancel = (headers: Record<string, string>, requestId: unknown = "one") =>
    call(
      olderRequest(
        app,
        { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, reason: "enough" } },
        { "user-agent": "agent/1", ...headers },
      ),
    );

  test("cancels its call, whose stream ends without an answer", async () => {
    const { answer, gone } = await started();
    expect((await cancel({})).status).toBe(202);
    await gone;
    const messages = await messagesOf(await answer);
    expect(messages.filter((message) => "result" in message)).toEqual([]);
  });

  test("ends no call of another program, and none of another number", async () => {
    const { gone } = await started();
    let isGone = false;
    void gone.then(() => {
      isGone = true;
    });
    for (const [headers, id] of [
      [{ "user-agent": "agent/2" }, "one"],
      [{}, "two"],
      [{}, 1],
      [{}, null],
      [{}, { one: 1 }],
    ] as const)
      expect((await cancel(headers, id)).status).toBeLessThan(500);
    expect(isGone).toBe(false);
    await cancel({});
    await gone;
  });

  test("of two calls with the same key and id neither is ended", () => {
    const running = new RunningCalls();
    const [first, second] = [running.begin("a", 1), running.begin("a", 1)];
    running.cancel("a", 1);
    expect([first.signal.aborted, second.signal.aborted]).toEqual([false, false]);
    second.done();
    running.cancel("a", "1");
    expect(first.signal.aborted).toBe(false);
    running.cancel("a", 1);
    expect(first.signal.aborted).toBe(true);
    first.done();
    running.cancel("a", 1);
  });
});

describe("progress", () => {
  const told = async (client: AnyClient, name: string, args: JsonRecord) => {
    const seen: { progress: number; total?: number | undefined }[] = [];
    const result = await client.call(name, args, { onprogress: (one) => void seen.push(one) });
    return { seen, result };
  };

  test.each(Object.entries(CLIENTS))("of a crawl reaches %s", async (_name, connect) => {
    await withClient(
      app,
      async (client) => {
        const { seen, result } = await told(client, "crawl", { url: `${site.url}/`, limit: 4, wait_seconds: 100 });
        expect(result.structuredContent).toMatchObject({ status: "completed", completed: 4 });
        expect(seen.length).toBeGreaterThan(0);
        expect(seen.at(-1)).toMatchObject({ progress: 4, total: 4 });
        const steps = seen.map(({ progress }) => progress);
        expect(steps).toEqual(steps.toSorted((a, b) => a - b));
      },
      connect,
    );
  });

  test("of an llms.txt is reported while it is created", async () => {
    const held = Promise.withResolvers<void>();
    site.set("/llms-root", async () => {
      await held.promise;
      return html("<title>Late</title><main><h1>Late</h1><p>A page that takes its time to say something.</p></main>");
    });
    await withClient(app, async (client) => {
      const first = Promise.withResolvers<void>();
      const call = client.call(
        "llmstxt",
        { url: `${site.url}/llms-root`, max_urls: 1 },
        { onprogress: () => first.resolve() },
      );
      await Promise.race([first.promise, call]);
      held.resolve();
      expect((await call).structuredContent).toMatchObject({ status: "completed" });
    });
  });

  test("is not reported to clients that did not request it", async () => {
    const params = { name: "crawl", arguments: { url: `${site.url}/a`, limit: 1, wait_seconds: 60 } };
    const response = await call(modernRequest(app, "tools/call", params));
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(await messagesOf(response)).toHaveLength(1);
  });
});
