// Public MCP servers behind the gateway, over HTTP and as its programs: their tools as the inspector's command line sees them on
// `/mcp`, and as models call them within chats of OpenAI's agents SDK.

import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startTestApp, type TestApp } from "../../test/support/app.ts";
import { DIALECTS, KINDS, say } from "../../test/support/fake-model.ts";
import { startUpstream } from "../../test/support/upstream.ts";
import type { Trials } from "./trials.ts";

const VERSION = "2026.8.31";
const PACKAGES = [
  ...["everything", "filesystem", "memory"].map((name) => `@modelcontextprotocol/server-${name}@${VERSION}`),
  ...["@modelcontextprotocol/inspector@2.12.0", "@openai/agents@0.20.0"],
];
const SAID = "from the agent";
const DONE = "It said it.";

interface Installs {
  /** A folder with the packages; undefined if they cannot be installed. */
  withPackages(name: string, packages: readonly string[]): Promise<string | undefined>;
}

/** Tries them all. */
export async function tryMcpServers({ trial, skip, run, withPackages }: Trials & Installs): Promise<void> {
  const place = await withPackages("mcp-servers", PACKAGES);
  if (place === undefined) {
    skip("public MCP servers", 11);
    return;
  }
  const bin = (name: string) => join(place, "node_modules/.bin", name);
  const files = join(place, "files");
  mkdirSync(files, { recursive: true });
  writeFileSync(join(files, "rye.txt"), "Rye is a grass.");
  copyFileSync(join(import.meta.dir, "mcp-agent.txt"), join(place, "mcp-agent.ts"));
  const remote = await startEverything(bin("mcp-server-everything"));
  const upstream = startUpstream();
  const app = await startTestApp({
    config: {
      providers: Object.fromEntries(
        DIALECTS.map((name) => [
          name,
          { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false },
        ]),
      ),
      models: DIALECTS.map((id) => ({ id, routes: [{ provider: id, model: "up-model" }] })),
      mcp: {
        servers: {
          // The inspector cuts longer lists where its output is a pipe.
          everything: { url: remote.url, tools: ["echo", "get-sum"] },
          program: { command: [bin("mcp-server-everything"), "stdio"], tools: ["echo"] },
          files: { command: [bin("mcp-server-filesystem"), files] },
          memory: {
            command: [bin("mcp-server-memory")],
            env: { MEMORY_FILE_PATH: join(place, `memory-${process.pid}.json`) },
          },
        },
      },
    },
  });
  const inspect = (args: readonly string[]) => inspected(bin("mcp-inspector"), { app, place, args, run });
  await trial("the MCP inspector lists the tools of all servers", async () => {
    const said = await inspect(["--method", "tools/list"]);
    const wanted = ["everything__echo", "program__echo", "files__read_text_file", "memory__create_entities"];
    const missing = wanted.filter((name) => !said.includes(`"${name}"`));
    return missing.length === 0 && !said.includes("get-env") ? undefined : said;
  });
  for (const [name, tool, args, says] of [
    ["everything over HTTP", "everything__echo", { message: SAID }, /Echo: from the agent/],
    ["everything as a program", "program__echo", { message: SAID }, /Echo: from the agent/],
    ["everything, a sum", "everything__get-sum", { a: 2, b: 3 }, /\b5\b/],
    ["the filesystem", "files__read_text_file", { path: join(files, "rye.txt") }, /Rye is a grass/],
    ["the filesystem, outside of its folder", "files__read_text_file", { path: "/etc/passwd" }, /outside allowed/],
    ["the memory", "memory__read_graph", {}, /entities/],
  ] as const) {
    await trial(`the MCP inspector calls a tool: ${name}`, async () => {
      const given = Object.entries(args).flatMap(([key, value]) => ["--tool-arg", `${key}=${value}`]);
      const said = await inspect(["--method", "tools/call", "--tool-name", tool, ...given]);
      return says.test(said) ? undefined : said;
    });
  }
  for (const dialect of DIALECTS) {
    await trial(`OpenAI's agents call a hosted MCP server over ${dialect}`, async () => {
      upstream.answer((received) => {
        const calls = [{ id: "call_1", name: "everything__echo", args: { message: SAID } }];
        return say(received, received.text.includes("Echo: ") ? { text: DONE } : { calls });
      });
      const env = { SALLYPORT_URL: app.url, SALLYPORT_KEY: app.key, MODEL: dialect };
      const { code, said } = await run([process.execPath, "mcp-agent.ts"], place, env);
      const last = said.trim().split("\n").at(-1) ?? "";
      const expected = { whole: DONE, streamed: DONE, approved: DONE, asked: 1, calls: [1, 1] };
      return code === 0 && last === JSON.stringify(expected) ? undefined : said;
    });
  }
  await app.stop();
  await upstream.stop();
  remote.stop();
}

/** What the inspector's command line prints. It ends with a failure where a tool's result is an error. */
async function inspected(
  program: string,
  { app, place, args, run }: { app: TestApp; place: string; args: readonly string[]; run: Trials["run"] },
): Promise<string> {
  const own = ["--transport", "http", "--header", `Authorization: Bearer ${app.key}`];
  return (await run([program, "--cli", `${app.url}/mcp`, ...own, ...args], place)).said;
}

/** Starts the server with all kinds of tools. */
async function startEverything(program: string): Promise<{ url: string; stop(): void }> {
  const free = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = free;
  await free.stop(true);
  const child = Bun.spawn([program, "streamableHttp"], {
    env: { PATH: process.env["PATH"] ?? "", PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  // It says when it listens.
  for await (const said of child.stderr as ReadableStream<Uint8Array>) {
    if (new TextDecoder().decode(said).includes("listening")) break;
  }
  return { url: `http://127.0.0.1:${port}/mcp`, stop: () => child.kill() };
}
