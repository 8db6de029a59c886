// Tries three headless coding agents against the gateway. Each completes a task with one tool, which a scripted
// provider gives it. Run it by hand: `bun scripts/agents.ts [--keep FOLDER] [--only TEXT]`. The agents are installed
// into a folder outside the repository; then everything runs without a network other than loopback, if the system
// allows such isolation.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { hereOf, type SnippetWorld, snippetsUnder } from "../test/docs/snippets.ts";
import { startTestApp, type TestApp } from "../test/support/app.ts";
import { type DialectName, KINDS, type Said, say } from "../test/support/fake-model.ts";
import { type FakeUpstream, type Received, startUpstream } from "../test/support/upstream.ts";
import { installAgents } from "./agents/install.ts";

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
  const again = [process.execPath, import.meta.path, "--inside", "--keep", folder, "--only", only];
  const script = 'ip link set lo up 2>/dev/null || ifconfig lo up; exec "$@"';
  return Bun.spawnSync(["unshare", "-n", "sh", "-c", script, "sh", ...again], {
    stdio: ["ignore", "inherit", "inherit"],
  }).exitCode;
}

/** An agent with one upstream protocol. */
interface Case {
  agent: "claude" | "codex" | "opencode";
  dialect: DialectName;
  /** The agent and the upstream use the same protocol, so nothing may be lost. */
  lossless: boolean;
  /** The agent must compact its conversation: because of its own count, or because the provider refuses the prompt. */
  compacts?: "counted" | "refused";
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
  { agent: "codex", dialect: "openai-chat", lossless: false, compacts: "counted" },
  { agent: "claude", dialect: "openai-chat", lossless: false, compacts: "counted" },
  { agent: "claude", dialect: "openai-chat", lossless: false, compacts: "refused" },
];

if (!argv.includes("--inside")) {
  installAgents(folder);
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
          { kind, base_url: upstream.baseUrl, api_key: "sk-up", discover: false },
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
  for (const one of CASES) {
    const name = `${one.agent} over ${one.dialect}${one.compacts === undefined ? "" : `, compacting where ${one.compacts}`}`;
    if (!name.includes(only)) continue;
    const problems = await runCase(one, app, upstream);
    failures += problems.length > 0 ? 1 : 0;
    process.stdout.write(
      `${problems.length === 0 ? "ok  " : "FAIL"} ${name}\n${problems.map((p) => `     ${p}\n`).join("")}`,
    );
  }
  await app.stop();
  upstream.stop();
  return failures === 0 ? 0 : 1;
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
  const recorder = record(app.url);
  const { args, env } = {
    claude: () => ({ args: claudeArgs(dialect), env: claudeEnv(worldOf(dialect, recorder.url, app), one.compacts) }),
    codex: () => ({ args: codexArgs(compacts), env: codexEnv(home, worldOf(dialect, recorder.url, app), compacts) }),
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

/** With the configuration that the guide gives. */
function codexEnv(home: string, world: SnippetWorld, compacts: boolean): Record<string, string> {
  const place = join(home, ".codex");
  mkdirSync(place);
  const [file] = snippetsUnder(GUIDE, "Codex");
  const text = hereOf(file?.code ?? "", world);
  // Of a provider of this name it asks for compaction by protocol; of others it makes its own.
  writeFileSync(join(place, "config.toml"), compacts ? text.replace('name = "Sallyport"', 'name = "OpenAI"') : text);
  return { CODEX_HOME: place, SALLYPORT_KEY: world.key };
}

/** The model's behaviour: it writes the file with the tool that it is given, and then reports it. */
function reply({ text }: Received, file: string): Said {
  if (hasResult(text)) return { text: DONE };
  const command = `printf '%s' '${CONTENT}' > '${file}'`;
  const calls: [name: string, args: Json][] = [
    ["Write", { file_path: file, content: CONTENT }],
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
