// The official MCP clients of both eras against the running program, over HTTP and as its parent on stdio.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { StdioClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { nativeAnswers, startFake } from "../decisions/support.ts";
import {
  type AnyClient,
  currentClient,
  errorIn,
  CLIENTS as HTTP_CLIENTS,
  hangingPage,
  MODERN,
  olderClient,
} from "../mcp/support.ts";
import { type Program, startProgram } from "../support/program.ts";
import { programCommand } from "../support/source-program.ts";
import { linesPage, modelConfig, startModel } from "../web/extract-script.ts";
import { type SearchSite, startSearchSite } from "../web/search-site.ts";
import { webConfig } from "../web/support.ts";

/** The time for starting a process on a busy machine. */
const SLOW_MS = 60_000;

const slow = hangingPage();
let folder: string;
let app: Program;
let site: SearchSite;
let judge: ReturnType<typeof startFake>;
let reader: ReturnType<typeof startModel>;
const fileOf = () => join(folder, "c.yaml");

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sallyport-stdio-"));
  site = startSearchSite({
    "/": linesPage("Example Domain", ["Title: Example Domain"]),
    "/robots.txt": () => new Response(""),
    "/slow": slow.page,
  });
  judge = startFake(nativeAnswers);
  reader = startModel();
  const { providers, models } = modelConfig(reader) as { providers: object; models: object[] };
  const backend = { kind: "systemone", routes: [{ provider: "judge", model: "jev-1.13.0" }] };
  const config = {
    ...webConfig([site.host]),
    ...site.config(["searxng"]),
    providers: { ...providers, judge: { kind: "systemone", base_url: judge.url } },
    models,
    decisions: { models: [{ id: "decide-1.0.0", backend }] },
    health: { probe: "off" },
  };
  await Bun.write(fileOf(), JSON.stringify(config));
  app = await startProgram(config);
  site.lists("searxng", [{ url: `${site.url}/`, title: "Example Domain", text: "For examples." }]);
});
afterAll(async () => {
  await app.stop();
  await site.stop();
  judge.stop();
  await reader.upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The command that starts the program. Its temporary files are in the folder of the test. */
const program = () => {
  const [command = "", ...args] = programCommand();
  return {
    command,
    args: [...args, "mcp", "--config", fileOf()],
    env: { HOME: folder, PATH: process.env["PATH"] ?? "", TMPDIR: folder },
    cwd: folder,
  };
};

const CLIENTS: Readonly<Record<string, () => Promise<AnyClient>>> = {
  ...Object.fromEntries(
    Object.entries(HTTP_CLIENTS).map(([name, connect]) => [`${name}, over HTTP`, () => connect(app)]),
  ),
  "the current client, on stdio": () => currentClient(new StdioClientTransport(program()), "auto"),
  "the current client, held to the revision without sessions, on stdio": () =>
    currentClient(new StdioClientTransport(program()), { pin: MODERN }),
  "the current client as one of 2025, on stdio": () => currentClient(new StdioClientTransport(program()), "legacy"),
  "the client of the SDK before, on stdio": () =>
    olderClient(new OlderTransport(program()) as unknown as Parameters<typeof olderClient>[0]),
};

describe.each(Object.entries(CLIENTS))("%s", (_name, connect) => {
  // On stdio a connection is a program of its own.
  let client: AnyClient;
  beforeAll(async () => {
    client = await connect();
  }, SLOW_MS);
  afterAll(() => client?.close());

  test(
    "lists every tool and calls them",
    async () => {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(
        "search scrape map crawl crawl_status extract llmstxt decide".split(" "),
      );
      const scraped = await client.call("scrape", { url: `${site.url}/` });
      expect(scraped.content[0]?.text).toContain("Example Domain");
      const found = await client.call("search", { text_query: "example" });
      expect(found.structuredContent).toMatchObject({ results: [{ title: "Example Domain" }] });
      const crawled = await client.call("crawl", { url: `${site.url}/`, limit: 1, wait_seconds: 60 });
      expect(crawled.structuredContent).toMatchObject({ status: "completed", completed: 1 });
      const questions = { urgent: { type: "noul", instructions: "Is it urgent?" } };
      const decided = await client.call("decide", { state: "Fire.", questions });
      expect(decided.structuredContent).toMatchObject({ answers: { urgent: { type: "noul" } } });
      const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };
      const extracted = await client.call("extract", { urls: [`${site.url}/`], prompt: "Its title?", schema });
      expect(extracted.structuredContent).toMatchObject({ data: { title: "Example Domain" } });
      expect(errorIn(await client.call("scrape", { url: "http://10.0.0.1/" }))).toMatchObject({
        code: "url_not_allowed",
      });
    },
    SLOW_MS,
  );

  test(
    "a call that is cancelled ends the request for the page",
    async () => {
      const asked = slow.visited();
      const stop = new AbortController();
      const call = client.call("scrape", { url: `${site.url}/slow` }, { signal: stop.signal });
      const request = await asked;
      stop.abort(new Error("enough"));
      expect(await call.catch((error: unknown) => String(error))).toContain("enough");
      await request.gone;
      // The program continues to serve.
      expect((await client.call("scrape", { url: `${site.url}/` })).isError).toBeUndefined();
    },
    SLOW_MS,
  );
});
