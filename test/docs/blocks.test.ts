// Every block of code in the documents is tried in some way, and those that are no programs say what is true: answers are as
// the OpenAPI document describes them, and clients set up as a guide says reach the gateway.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ERRORS, type ErrorCode } from "../../src/base/errors.ts";
import { documentPath } from "../../src/docs/document.ts";
import type { ApiEndpoint } from "../../src/http/endpoint.ts";
import { ELSEWHERE, LEFT, nameOf, waysOf } from "./blocks.ts";
import { type DocumentedGateway, endpointOf, type Json, startDocumentedGateway } from "./gateway.ts";
import { checker } from "./schema.ts";
import { allSnippets, hereOf, markOf, runSnippet, type Snippet } from "./snippets.ts";

const SLOW_MS = 60_000;
const SNIPPETS = allSnippets();
const WAYS = ["run", "env", "install", "answer", "part", "error", "client", "configuration", "elsewhere", "left"];
let gateway: DocumentedGateway;

beforeAll(async () => {
  gateway = await startDocumentedGateway();
});
afterAll(() => gateway.stop());

const named = (snippets: readonly Snippet[]) => snippets.map((one) => [nameOf(one), one] as const);

describe("every block", () => {
  test("is tried in one way", () => {
    expect(SNIPPETS.length).toBeGreaterThan(90);
    const wrong = SNIPPETS.filter((one) => waysOf(one).length !== 1 || !WAYS.includes(waysOf(one)[0] ?? ""));
    expect(
      wrong.map(
        (one) => `${nameOf(one)} (${waysOf(one).join(", ")}): give it one mark, or a line in test/docs/blocks.ts`,
      ),
    ).toEqual([]);
  });

  test("that is listed as tried elsewhere, or as left, is there", () => {
    const names = new Set(SNIPPETS.map(nameOf));
    expect([...Object.keys(ELSEWHERE), ...Object.keys(LEFT)].filter((name) => !names.has(name))).toEqual([]);
  });

  test.each(Object.entries(ELSEWHERE))("%s is looked up in %s", (name, file) => {
    const [document = "", ...rest] = name.split(", ");
    const heading = rest.slice(0, -1).join(", ");
    const source = existsSync(join(import.meta.dir, "../..", file))
      ? readFileSync(join(import.meta.dir, "../..", file), "utf8")
      : "";
    expect([file, source.includes(`"${document}"`), source.includes(`"${heading}"`)]).toEqual([file, true, true]);
  });

  test("is fenced: indented code would be seen by none of this", () => {
    const indented = SNIPPETS.length === 0 ? [] : indentedLines();
    expect(indented).toEqual([]);
  });
});

/** Lines that Markdown shows as code though no fence says so. */
function indentedLines(): string[] {
  return [...new Set(SNIPPETS.map(({ document }) => document))].flatMap((document) => {
    const path = join(import.meta.dir, "../..", document === "README.md" ? "" : "docs", document);
    const prose = readFileSync(path, "utf8").replaceAll(/^ *```[\s\S]*?^ *```$/gm, "");
    return [...prose.matchAll(/\n\n {4,}(?![-*\d])(\S.*)/g)].map(([, line]) => `${document}: ${line}`);
  });
}

describe("answers are as the OpenAPI document describes them", () => {
  const documented = (endpoint: ApiEndpoint, status: string, shown: unknown) => {
    const method = endpoint.method.toLowerCase();
    const schema = ["responses", status, "content", "application/json", "schema"];
    return checker(gateway.document)(["paths", documentPath(endpoint), method, ...schema], shown);
  };

  test.each(named(SNIPPETS.filter((one) => markOf(one, "answer") !== undefined)))("%s", (_name, snippet) => {
    const endpoint = endpointOf(markOf(snippet, "answer") ?? "");
    expect(documented(endpoint, "200", JSON.parse(snippet.code))).toBeUndefined();
  });

  test.each(named(SNIPPETS.filter((one) => markOf(one, "part") !== undefined)))("a part: %s", (_name, snippet) => {
    const wrong = documented(endpointOf(markOf(snippet, "part") ?? ""), "200", JSON.parse(snippet.code)) ?? "";
    expect(wrong.split(", ").filter((one) => !/^data must have required property/.test(one) && one !== "")).toEqual([]);
  });

  test.each(named(SNIPPETS.filter(({ marks }) => marks.includes("error"))))("an error: %s", (_name, { code }) => {
    const shown = JSON.parse(code) as { error: { code: ErrorCode; type: string } };
    const { status, type } = ERRORS[shown.error.code];
    expect(shown.error.type).toBe(type);
    expect(documented(endpointOf("createChatCompletion"), String(status), shown)).toBeUndefined();
  });
});

/** What a client does first with an address and a key. */
async function models(baseUrl: string, key: string, headers: Record<string, string> = {}): Promise<string[]> {
  const response = await fetch(`${baseUrl}/models`, { headers: { authorization: `Bearer ${key}`, ...headers } });
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
}

async function mcpTools(url: string, headers: Record<string, string>): Promise<string> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  expect(response.status).toBe(200);
  return response.text();
}

/** Settings as a client has them, where the variables of its shell are known. */
const settings = (text: string, key: string) =>
  text.replaceAll(/\{env:SALLYPORT_KEY\}|\$\{(?:env:)?SALLYPORT_KEY\}|\$\{input:sallyport-key\}/g, key);

/** What makes use of each client's settings. */
const CLIENTS: Readonly<Record<string, (snippet: Snippet, code: string, key: string) => Promise<void>>> = {
  "guides/agents.md, Claude Code, sh": claudeCode,
  "guides/agents.md, Claude Code, sh 2": claudeCode,
  "guides/agents.md, Codex, toml": async (_, code, key) => {
    const read = Bun.TOML.parse(code) as Json;
    const provider = (read["model_providers"] as Record<string, Json>)[String(read["model_provider"])];
    expect(provider).toMatchObject({ env_key: "SALLYPORT_KEY", wire_api: "responses" });
    expect(await models(String(provider?.["base_url"]), key)).toContain(String(read["model"]));
  },
  "guides/agents.md, opencode, json": async (_, code, key) => {
    const read = JSON.parse(settings(code, key)) as { model: string; provider: Record<string, Json> };
    const [provider = "", ...model] = read.model.split("/");
    const { options, models: own } = read.provider[provider] as Record<string, Record<string, string>>;
    expect(Object.keys(own ?? {})).toContain(model.join("/"));
    expect(await models(options?.["baseURL"] ?? "", options?.["apiKey"] ?? "")).toContain(model.join("/"));
  },
  "guides/applications.md, Open WebUI, sh": async (_, code, key) => {
    const of = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(code)?.[1] ?? "";
    expect(of("OPENAI_API_KEY")).toBe(key);
    expect(await models(of("OPENAI_API_BASE_URL"), of("OPENAI_API_KEY"))).toContain("demo-echo");
  },
  "guides/applications.md, LibreChat, yaml": async (_, code, key) => {
    const read = Bun.YAML.parse(settings(code, key)) as { endpoints: { custom: Json[] } };
    const [custom] = read.endpoints.custom;
    const list = await models(String(custom?.["baseURL"]), String(custom?.["apiKey"]));
    const { default: named } = (custom?.["models"] ?? {}) as { default?: string[] };
    expect(list).toEqual(expect.arrayContaining(named ?? ["none"]));
  },
  "guides/mcp.md, Claude Code, sh": async (_, code) => {
    const [, url = "", header = ""] = /--transport http \S+ (\S+) --header "([^"]+)"/.exec(code) ?? [];
    const [name = "", value = ""] = header.split(": ");
    expect(await mcpTools(url, { [name]: value })).toContain('"scrape"');
  },
  "guides/mcp.md, Claude Code, sh 2": async (_, code) => expect(code).toMatch(/ -- sallyport mcp$/m),
  "guides/mcp.md, Codex, toml": async (_, code, key) => {
    const { sallyport } = (Bun.TOML.parse(code) as { mcp_servers: Record<string, Json> }).mcp_servers;
    expect(sallyport?.["bearer_token_env_var"]).toBe("SALLYPORT_KEY");
    expect(await mcpTools(String(sallyport?.["url"]), { authorization: `Bearer ${key}` })).toContain('"scrape"');
  },
  "guides/mcp.md, Codex, toml 2": async (_, code) => {
    const { sallyport } = (Bun.TOML.parse(code) as { mcp_servers: Record<string, Json> }).mcp_servers;
    expect(sallyport).toEqual({ command: "sallyport", args: ["mcp"], required: true });
  },
  "guides/mcp.md, Cursor, json": async (_, code, key) => {
    const read = JSON.parse(settings(code, key)) as {
      mcpServers: Record<string, { url: string; headers: HeadersMap }>;
    };
    const { url = "", headers = {} } = read.mcpServers["sallyport"] ?? {};
    expect(await mcpTools(url, headers)).toContain('"scrape"');
  },
  "guides/mcp.md, VS Code, json": async (_, code, key) => {
    const read = JSON.parse(settings(code, key)) as { inputs: Json[]; servers: Record<string, McpServer> };
    expect(read.inputs).toMatchObject([{ id: "sallyport-key", type: "promptString", password: true }]);
    const { url = "", headers = {}, type } = read.servers["sallyport"] ?? {};
    expect(type).toBe("http");
    expect(await mcpTools(url, headers)).toContain('"scrape"');
  },
};

type HeadersMap = Record<string, string>;
interface McpServer {
  readonly type: string;
  readonly url: string;
  readonly headers: HeadersMap;
}

/** Its own library reads the same variables as Claude Code. */
async function claudeCode(snippet: Snippet, code: string): Promise<void> {
  const setsModel = /_MODEL=(\S+)/.exec(code)?.[1] ?? "";
  if (setsModel !== "") return expect(setsModel).toBe("demo-echo");
  const client = `
import Anthropic from "@anthropic-ai/sdk";
const message = { max_tokens: 9, messages: [{ role: "user", content: "Hello" }] };
const answer = await new Anthropic().messages.create({ model: process.argv[3], ...message });
console.log(answer.content[0].text);
`;
  const asked = code.replace(
    /^claude /m,
    `cat > client.mjs <<'END'\n${client}\nEND\n"${process.execPath}" client.mjs `,
  );
  const world = { url: gateway.app.url, key: gateway.app.key, site: "http://127.0.0.1:1" };
  expect(await runSnippet({ ...snippet, code: asked }, world)).toMatchObject({ exitCode: 0, out: "Hello\n" });
}

describe("clients that are set up as the guides say reach the gateway", () => {
  const clients = SNIPPETS.filter(({ marks }) => marks.includes("client"));

  test("and each of them is tried", () => {
    expect(clients.map(nameOf).sort()).toEqual(Object.keys(CLIENTS).sort());
  });

  test.each(named(clients))(
    "%s",
    async (name, snippet) => {
      const { url, key } = gateway.app;
      const words = { "your-model": "demo-echo", "your-small-model": "demo-echo" };
      await CLIENTS[name]?.(snippet, hereOf(snippet.code, { url, key, site: url, words }), key);
    },
    SLOW_MS,
  );
});
