// Tries headless coding agents against the gateway. Each completes a task with one tool, which a scripted provider gives
// it. Run it by hand: `bun scripts/agents.ts [--keep FOLDER] [--only TEXT] [--write]`. The agents are installed into a
// folder outside the repository; then everything runs without a network other than loopback, if the system allows such
// isolation. `--write` writes what succeeded to test/clients/agent-runs.json, from which docs/reference/clients.md is made.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import AGENT_RUNS from "../test/clients/agent-runs.json";
import { hereOf, type SnippetWorld, snippetsUnder } from "../test/docs/snippets.ts";
import { startTestApp, type TestApp } from "../test/support/app.ts";
import { DIALECTS, type DialectName, KINDS, type Said, say } from "../test/support/fake-model.ts";
import { type FakeUpstream, type Received, startUpstream } from "../test/support/upstream.ts";
import { AGENTS, type AgentName, installAgents } from "./agents/install.ts";

type Json = Record<string, unknown>;

/** What the agents are configured with. */
const GUIDE = "guides/agents.md";
const TASK = "Create hello.txt in the current folder with the content: hello from the gateway";
const CONTENT = "hello from the gateway";
const RUN_TIMEOUT_MS = 120_000;
const DONE = "The file is there.";
/** A fact that only a summary contains. */
const FACT = "the file was written in the first step";

const argv = process.argv.slice(2);
/** Runs only the cases whose names contain this text. */
const only = argv.includes("--only") ? (argv[argv.indexOf("--only") + 1] ?? "") : "";
const keep = argv.includes("--keep") ? argv[argv.indexOf("--keep") + 1] : undefined;
const folder = keep ?? mkdtempSync(join(tmpdir(), "sallyport-agents-"));

/** Runs this script again without a network other than loopback; undefined if the system does not allow that. */
function isolated(): number | undefined {
  const quiet = { stdio: ["ignore", "ignore", "ignore"] as ["ignore", "ignore", "ignore"] };
  if (Bun.which("unshare") === null || Bun.spawnSync(["unshare", "-n", "true"], quiet).exitCode !== 0) {
    process.stdout.write("note: no network namespace here; the agents run with the network open\n");
    return undefined;
  }
  const options = argv.includes("--write") ? ["--write"] : [];
  const again = [process.execPath, import.meta.path, "--inside", "--keep", folder, "--only", only, ...options];
  const script = 'ip link set lo up 2>/dev/null || ifconfig lo up; exec "$@"';
  return Bun.spawnSync(["unshare", "-n", "sh", "-c", script, "sh", ...again], {
    stdio: ["ignore", "inherit", "inherit"],
  }).exitCode;
}

/** An agent with one upstream protocol. */
interface Case {
  agent: AgentName;
  dialect: DialectName;
  /** The agent and the upstream use the same protocol, so nothing may be lost. */
  lossless: boolean;
  /** The agent must compact its conversation: because of its own count, or because the provider refuses the prompt. */
  compacts?: "counted" | "refused";
  /** The agent asks over a WebSocket. */
  isSocket?: true;
}

const CASES: Case[] = [
  { agent: "claude", dialect: "anthropic-messages", lossless: true },
  { agent: "claude", dialect: "openai-chat", lossless: false },
  { agent: "claude", dialect: "openai-responses", lossless: false },
  { agent: "claude", dialect: "gemini", lossless: false },
  { agent: "opencode", dialect: "openai-chat", lossless: false },
  { agent: "opencode", dialect: "anthropic-messages", lossless: false },
  { agent: "codex", dialect: "openai-responses", lossless: true },
  { agent: "codex", dialect: "openai-chat", lossless: false },
  { agent: "codex", dialect: "anthropic-messages", lossless: false },
  ...DIALECTS.map((dialect) => ({ agent: "codex", dialect, lossless: false, isSocket: true }) as const),
  ...DIALECTS.map((dialect) => ({ agent: "gemini", dialect, lossless: dialect === "gemini" }) as const),
  { agent: "codex", dialect: "openai-chat", lossless: false, compacts: "counted" },
  { agent: "claude", dialect: "openai-chat", lossless: false, compacts: "counted" },
  { agent: "claude", dialect: "openai-chat", lossless: false, compacts: "refused" },
];

if (!argv.includes("--inside")) {
  const chosen = CASES.filter((one) => nameOf(one).includes(only)).map(({ agent }) => agent);
  installAgents(folder, [...new Set(chosen)]);
  const code = isolated() ?? (await run());
  if (keep === undefined) rmSync(folder, { recursive: true, force: true });
  process.exit(code);
} else process.exit(await run());

async function run(): Promise<number> {
  const upstream = startUpstream();
  const app = await startTestApp({
    config: {
      providers: Object.fromEntries(
        Object.entries(KINDS).map(([name, kind]) => [
          name,
          {
            ...{ kind, base_url: upstream.baseUrl, api_key: "sk-up", discover: false },
            // As the vendor of each protocol does. Otherwise the gateway would run the search, and relay nothing.
            ...(name === "openai-chat" ? {} : { quirks: { web_search: true } }),
          },
        ]),
      ),
      models: Object.keys(KINDS).map((provider) => ({
        id: `gpt-5.5-${provider}`,
        aliases: [`claude-${provider}`],
        supports_reasoning: true,
        routes: [{ provider, model: "up-model" }],
      })),
      tiers: { premium: { rpm: 10_000 } },
    },
  });
  let failures = 0;
  const succeeded: Case[] = [];
  for (const one of CASES) {
    const name = nameOf(one);
    if (!name.includes(only)) continue;
    const problems = await runCase(one, app, upstream);
    if (problems.length === 0) succeeded.push(one);
    failures += problems.length > 0 ? 1 : 0;
    process.stdout.write(
      `${problems.length === 0 ? "ok  " : "FAIL"} ${name}\n${problems.map((p) => `     ${p}\n`).join("")}`,
    );
  }
  await app.stop();
  upstream.stop();
  if (argv.includes("--write")) await writeRuns(succeeded);
  return failures === 0 ? 0 : 1;
}

function nameOf({ agent, dialect, compacts, isSocket }: Case): string {
  const way = isSocket === true ? ", by WebSocket" : "";
  return `${agent} over ${dialect}${way}${compacts === undefined ? "" : `, compacting where ${compacts}`}`;
}

/** Writes what succeeded, beside earlier results of agents that were not run now. */
async function writeRuns(succeeded: readonly Case[]): Promise<void> {
  const own = new Map<string, AgentRun>();
  for (const { agent, dialect, compacts, isSocket } of succeeded) {
    const { program, version } = AGENTS[agent];
    const compaction = compacts === undefined ? "" : ", and compacts its conversation";
    const did = `completes a task with a tool${isSocket === true ? " over a WebSocket" : ""}${compaction}`;
    const run = own.get(program + did) ?? { client: `${program} ${version}`, did, over: [] };
    if (!run.over.includes(dialect)) run.over.push(dialect);
    own.set(program + did, run);
  }
  const runs = [...own.values()];
  const names = new Set(runs.map(({ client }) => client.replace(/ \S+$/, "")));
  // Searches of the web are tried by another script.
  const kept = (AGENT_RUNS as AgentRun[]).filter(
    ({ client, did }) => did.startsWith("searches") || !names.has(client.replace(/ \S+$/, "")),
  );
  const all = [...kept, ...runs].sort((a, b) => (a.client < b.client ? -1 : a.client > b.client ? 1 : 0));
  const file = join(import.meta.dir, "../test/clients/agent-runs.json");
  await Bun.write(file, `${JSON.stringify(all, undefined, 2)}\n`);
  Bun.spawnSync([join(import.meta.dir, "../node_modules/.bin/biome"), "format", "--write", file]);
}

/** What an agent did, and over which protocols of upstreams. */
interface AgentRun {
  client: string;
  did: string;
  over: string[];
}

async function runCase(one: Case, app: TestApp, upstream: FakeUpstream): Promise<string[]> {
  const { agent, dialect, lossless } = one;
  const compacts = one.compacts !== undefined;
  const home = mkdtempSync(join(folder, "home-"));
  const work = mkdtempSync(join(folder, "work-"));
  const file = join(work, "hello.txt");
  const problems: string[] = [];
  upstream.received.length = 0;
  upstream.answer((received) => {
    if (one.compacts === "refused" && isTooLong(received)) return refusal();
    return say(received, compacts ? longReply(received, file) : reply(received, file));
  });
  app.logs.length = 0;
  const recorder = record(app.url);
  // The recorder takes no WebSockets.
  const address = one.isSocket === true ? app.url : recorder.url;
  const { args, env } = {
    claude: () => ({ args: claudeArgs(dialect), env: claudeEnv(worldOf(dialect, recorder.url, app), one.compacts) }),
    codex: () => ({ args: codexArgs(compacts), env: codexEnv(home, worldOf(dialect, address, app), one) }),
    gemini: () => ({ args: geminiArgs(dialect), env: geminiEnv(home, recorder.url, app) }),
    opencode: () => ({ args: opencodeArgs(work, dialect, recorder.url), env: { SALLYPORT_KEY: app.key } }),
  }[agent]();
  const child = Bun.spawn(args, {
    cwd: work,
    env: { PATH: process.env["PATH"], HOME: home, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const timer = setTimeout(() => child.kill(), RUN_TIMEOUT_MS);
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  clearTimeout(timer);
  recorder.stop();
  // The exit code is not enough, since an agent whose tool failed also exits with 0.
  const content = existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
  if (content !== CONTENT) problems.push(`the file holds ${JSON.stringify(content)}; ${(out + err).slice(-600)}`);
  if (!out.includes(DONE)) problems.push(`the agent did not report the model's last words: ${out.slice(-300)}`);
  const results = upstream.received.filter(({ text }) => hasResult(text));
  if (compacts && !upstream.received.some(({ text }) => isSummaryCall(text)))
    problems.push("nobody asked for a summary");
  if (
    compacts &&
    agent === "codex" &&
    !recorder.bodies.some((body) => JSON.stringify(body).includes("compaction_trigger"))
  ) {
    problems.push("the agent did not ask for compaction by protocol");
  }
  if (compacts && !upstream.received.some(({ text }) => text.includes(FACT) && !isSummaryCall(text))) {
    problems.push("no request brought the summary to the upstream");
  }
  if (results.length === 0 && !compacts) problems.push("no request brought the tool's result to the upstream");
  if (one.isSocket === true) {
    await app.flushLogs();
    const asked = app.logs.filter(({ via, status }) => via === "websocket" && status === 200);
    if (asked.length < 2) problems.push(`${asked.length} requests came over the WebSocket`);
  }
  if (lossless) problems.push(...losses(recorder.bodies, upstream.received));
  for (const path of [home, work]) rmSync(path, { recursive: true, force: true });
  return problems;
}

function claudeArgs(dialect: DialectName): string[] {
  const binary = join(folder, "node_modules/.bin/claude");
  return [binary, "-p", TASK, "--dangerously-skip-permissions", "--model", `claude-${dialect}`];
}

/** What the guide's text means here. */
function worldOf(dialect: DialectName, url: string, { key }: TestApp): SnippetWorld {
  return { url, key, site: url, words: { "your-model": `gpt-5.5-${dialect}` } };
}

/** With the variables that the guide gives. */
function claudeEnv(world: SnippetWorld, compacts: Case["compacts"]): Record<string, string> {
  const [shell] = snippetsUnder(GUIDE, "Claude Code");
  const lines = [...hereOf(shell?.code ?? "", world).matchAll(/^export (\w+)=(.*)$/gm)];
  return {
    // For an unknown model it assumes a window of a million tokens. This is the smallest that can be set.
    ...(compacts === "counted"
      ? { CLAUDE_CODE_AUTO_COMPACT_WINDOW: "100000", CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: "50" }
      : {}),
    // Run as root, it requires a statement that it is in a sandbox.
    IS_SANDBOX: "1",
    ...Object.fromEntries(lines.map(([, name = "", value = ""]) => [name, value])),
    DISABLE_TELEMETRY: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
}

/** The arguments with the guide's configuration, for this address and model. */
function opencodeArgs(work: string, dialect: DialectName, url: string): string[] {
  const [file] = snippetsUnder(GUIDE, "opencode");
  if (file === undefined) throw new Error("docs/guides/agents.md has no configuration for opencode.");
  const here = file.code.replace("http://127.0.0.1:8787", url).replaceAll("your-model", `gpt-5.5-${dialect}`);
  writeFileSync(join(work, "opencode.json"), here);
  return [join(folder, "node_modules/.bin/opencode"), "run", TASK];
}

function codexArgs(compacts: boolean): string[] {
  const settings = [
    "check_for_update_on_startup=false",
    "analytics.enabled=false",
    "features.plugins=false",
    "features.apps=false",
    ...(compacts ? ["model_auto_compact_token_limit=20000"] : []),
  ];
  return [
    join(folder, "node_modules/.bin/codex"),
    "exec",
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    ...settings.flatMap((setting) => ["-c", setting]),
    TASK,
  ];
}

function geminiArgs(dialect: DialectName): string[] {
  return [join(folder, "node_modules/.bin/gemini"), "--yolo", "--skip-trust", "-m", `gpt-5.5-${dialect}`, "-p", TASK];
}

function geminiEnv(home: string, url: string, { key }: TestApp): Record<string, string> {
  mkdirSync(join(home, ".gemini"));
  const settings = {
    security: { auth: { selectedType: "gemini-api-key" } },
    privacy: { usageStatisticsEnabled: false },
  };
  writeFileSync(join(home, ".gemini/settings.json"), JSON.stringify(settings));
  return { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: url };
}

/** With the configuration that the guide gives. */
function codexEnv(home: string, world: SnippetWorld, { compacts, isSocket }: Case): Record<string, string> {
  const place = join(home, ".codex");
  mkdirSync(place);
  const [file] = snippetsUnder(GUIDE, "Codex");
  const text = hereOf(file?.code ?? "", world);
  // Of a provider of this name it asks for compaction by protocol; of others it makes its own.
  const socket = isSocket === true ? "supports_websockets = true\n" : "";
  const own = compacts === undefined ? text : text.replace('name = "Sallyport"', 'name = "OpenAI"');
  writeFileSync(join(place, "config.toml"), `${own.trimEnd()}\n${socket}`);
  return { CODEX_HOME: place, SALLYPORT_KEY: world.key };
}

/** The model's behaviour: it writes the file with the tool that it is given, and then reports it. */
function reply({ text }: Received, file: string): Said {
  if (hasResult(text)) return { text: DONE };
  const command = `printf '%s' '${CONTENT}' > '${file}'`;
  const calls: [name: string, args: Json][] = [
    ["Write", { file_path: file, content: CONTENT }],
    ["write_file", { file_path: file, content: CONTENT }],
    ["bash", { command, description: "Writes the file" }],
    ["exec_command", { cmd: command }],
    ["shell_command", { command }],
    ["shell", { command: ["sh", "-c", command] }],
  ];
  const known = calls.find(([name]) => text.includes(`"name":"${name}"`));
  if (known === undefined) return { text: "A title" };
  return { text: "I will write it.", calls: [{ id: "call_write", name: known[0], args: known[1] }] };
}

/** Whether the request asks for a summary, either for the gateway or for the agent. */
function isSummaryCall(text: string): boolean {
  return /You keep the record of a conversation|create a detailed summary|CONTEXT CHECKPOINT COMPACTION/i.test(text);
}

/** Like `reply`, but the first answer fills the window, so that the agent compacts before it continues. */
function longReply(received: Received, file: string): Said {
  const { text } = received;
  if (isSummaryCall(text)) return { text: `<summary>## State of the work\n${FACT}: ${file}</summary>` };
  if (text.includes(FACT)) return { text: DONE };
  const said = reply(
    { ...received, text: text.replaceAll(/"(?:tool_result|function_call_output)"|"role":"tool"/g, "") },
    file,
  );
  return { ...said, usage: { input: 190_000, output: 50 } };
}

/** Whether a provider with a small window would refuse the request. */
function isTooLong({ text }: Received): boolean {
  return hasResult(text) && !isSummaryCall(text) && !text.includes(FACT);
}

/** A provider's refusal of a long prompt, in the format of chat completions. */
function refusal(): Response {
  const message =
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 190000 tokens.";
  const error = { message, type: "invalid_request_error", param: "messages", code: "context_length_exceeded" };
  return Response.json({ error }, { status: 400 });
}

/** Whether the history contains the tool's result, in any protocol. */
function hasResult(text: string): boolean {
  return /"(?:tool_result|function_call_output)"|"role":"tool"|"functionResponse"/.test(text);
}

/** A proxy between agent and gateway that records what the agent sends. */
function record(target: string): { url: string; bodies: Json[]; stop(): void } {
  const bodies: Json[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = request.method === "POST" ? await request.arrayBuffer() : undefined;
      if (body !== undefined) bodies.push(JSON.parse(new TextDecoder().decode(body)) as Json);
      const headers = new Headers(request.headers);
      headers.delete("host");
      headers.set("accept-encoding", "identity");
      return fetch(target + pathname + search, { method: request.method, headers, ...(body ? { body } : {}) });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, bodies, stop: () => void server.stop(true) };
}

/** The members of the agent's requests that reached the upstream changed or not at all. */
function losses(sent: readonly Json[], received: readonly Received[]): string[] {
  if (sent.length === 0 || sent.length !== received.length) {
    return [`the agent sent ${sent.length} requests, the upstream received ${received.length}`];
  }
  return sent.flatMap((body, i) => {
    const got = received[i]?.json ?? {};
    return [...new Set([...Object.keys(body), ...Object.keys(got)])]
      .filter((name) => name !== "model" && !isDeepStrictEqual(body[name], got[name]))
      .map((name) => `request ${i}: '${name}' changed on the way`);
  });
}
