// Gives Claude Code and Codex the gateway's tools, as docs/guides/mcp.md describes, and has them read a page with one
// of the tools; a scripted model tells them to. Run it by hand: `bun scripts/agent-tools.ts [--keep FOLDER]`. The
// agents are installed into a folder outside the repository.

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hereOf, snippetsUnder } from "../test/docs/snippets.ts";
import { startTestApp, type TestApp } from "../test/support/app.ts";
import { say } from "../test/support/fake-model.ts";
import { page, startFakeSite } from "../test/support/fake-site.ts";
import { type Received, startUpstream } from "../test/support/upstream.ts";
import { installAgents } from "./agents/install.ts";

const RUN_TIMEOUT_MS = 120_000;
const TASK = "Read the page that I mean and tell me its title.";
/** A word that only the page contains. */
const SECRET = "Periwinkle";
const DONE = `The page is about ${SECRET}.`;
const MAIN = join(import.meta.dir, "../src/main.ts");

const argv = process.argv.slice(2);
const keep = argv.includes("--keep") ? argv[argv.indexOf("--keep") + 1] : undefined;
const folder = keep ?? mkdtempSync(join(tmpdir(), "sallyport-agents-"));

/** An agent, and which of its blocks in the guide gives it the tools. */
interface Case {
  readonly name: string;
  readonly heading: "Claude Code" | "Codex";
  readonly block: number;
}

const GUIDE = "guides/mcp.md";
const agent = (name: string) => join(folder, "node_modules/.bin", name);

const claudeRun = () => [agent("claude"), "-p", TASK, "--dangerously-skip-permissions", "--model", "claude-reader"];
const codexRun = (url: string) => {
  const provider = `model_providers.gw={name="gw",base_url="${url}/v1",env_key="SALLYPORT_KEY",wire_api="responses"}`;
  const settings = [
    "model_provider=gw",
    provider,
    "check_for_update_on_startup=false",
    "analytics.enabled=false",
    "features.tool_search=false",
  ];
  const flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "reader"];
  return [agent("codex"), "exec", ...flags, ...settings.flatMap((setting) => ["-c", setting]), TASK];
};

const CASES: readonly Case[] = [
  { name: "Claude Code over HTTP", heading: "Claude Code", block: 0 },
  { name: "Claude Code over stdio", heading: "Claude Code", block: 1 },
  { name: "Codex over HTTP", heading: "Codex", block: 0 },
  { name: "Codex over stdio", heading: "Codex", block: 1 },
];

/** What the guide tells a person to run, or to write into a file. */
function textOf({ heading, block }: Case, { url, key }: TestApp): string {
  const snippet = snippetsUnder(GUIDE, heading)[block];
  if (snippet === undefined) throw new Error(`${GUIDE} has too few blocks under "${heading}".`);
  return hereOf(snippet.code, { url, key, site: url });
}

/** A folder with the program under its name, which reads this configuration. */
function programFolder(config: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  const line = `exec '${process.execPath}' '${MAIN}' "$@" --config '${config}'`;
  writeFileSync(join(bin, "sallyport"), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  return bin;
}

process.exit(await run());

async function run(): Promise<number> {
  installAgents(folder, ["claude", "codex", "opencode"]);
  const upstream = startUpstream();
  const site = startFakeSite({ "/": page(SECRET), "/robots.txt": () => new Response("") });
  upstream.answer((received) => say(received, reply(received, `${site.url}/`)));
  const web = { allow_hosts: [site.host], render: "never" };
  const provider = (kind: string) => ({ kind, base_url: upstream.baseUrl, api_key: "k", discover: false });
  const app = await startTestApp({
    config: {
      web,
      providers: { anthropic: provider("anthropic"), openai: provider("openai") },
      models: [
        { id: "claude-reader", routes: [{ provider: "anthropic", model: "up" }] },
        { id: "reader", routes: [{ provider: "openai", model: "up" }] },
      ],
      tiers: { premium: { rpm: 10_000 } },
    },
  });
  const config = join(folder, "mcp.yaml");
  await Bun.write(config, JSON.stringify({ web, data_dir: join(folder, "data") }));
  let failures = 0;
  for (const one of CASES) {
    const before = site.count("/");
    const { out, problems } = await runCase(one, app, config);
    if (site.count("/") === before) problems.push("the page was not read");
    if (!upstream.received.some(({ text }) => hasResult(text) && text.includes(SECRET)))
      problems.push("the tool's result did not reach the model");
    if (!out.includes(DONE)) problems.push(`the agent did not report the model's last words: ${out.slice(-600)}`);
    upstream.received.length = 0;
    failures += problems.length > 0 ? 1 : 0;
    const lines = problems.map((problem) => `     ${problem}\n`).join("");
    process.stdout.write(`${problems.length === 0 ? "ok  " : "FAIL"} ${one.name}\n${lines}`);
  }
  await app.stop();
  await site.stop();
  upstream.stop();
  if (keep === undefined) rmSync(folder, { recursive: true, force: true });
  return failures === 0 ? 0 : 1;
}

async function runCase(one: Case, app: TestApp, config: string): Promise<{ out: string; problems: string[] }> {
  const home = mkdtempSync(join(folder, "home-"));
  const work = mkdtempSync(join(folder, "work-"));
  mkdirSync(join(home, ".codex"));
  const env = {
    PATH: `${programFolder(config)}:${join(folder, "node_modules/.bin")}:${process.env["PATH"]}`,
    HOME: home,
    CODEX_HOME: join(home, ".codex"),
    SALLYPORT_KEY: app.key,
    // Run as root, it requires a statement that it is in a sandbox.
    IS_SANDBOX: "1",
    ANTHROPIC_BASE_URL: app.url,
    ANTHROPIC_API_KEY: app.key,
    DISABLE_TELEMETRY: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
  const problems: string[] = [];
  let out = "";
  const text = textOf(one, app);
  if (one.heading === "Codex") writeFileSync(join(home, ".codex", "config.toml"), text);
  const commands = one.heading === "Codex" ? [codexRun(app.url)] : [["sh", "-euc", text], claudeRun()];
  for (const command of commands) {
    const child = Bun.spawn(command, { cwd: work, env, stdio: ["ignore", "pipe", "pipe"] });
    const timer = setTimeout(() => child.kill(), RUN_TIMEOUT_MS);
    const [said, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    if ((await child.exited) !== 0)
      problems.push(`${command.slice(0, 3).join(" ")} failed: ${(said + err).slice(-600)}`);
    clearTimeout(timer);
    out = said;
  }
  for (const path of [home, work]) if (existsSync(path)) rmSync(path, { recursive: true, force: true });
  return { out, problems };
}

/**
 * The model's behaviour: it searches for the tool if the agent does not offer all tools at once, reads the page, and
 * reports its content.
 */
function reply({ text }: Received, url: string) {
  if (hasResult(text) && text.includes(SECRET)) return { text: DONE };
  const name = /"name":\s*"(\w*scrape)"/.exec(text)?.[1];
  if (name !== undefined) return { text: "I will read it.", calls: [{ id: "call_read", name, args: { url } }] };
  if (!hasResult(text) && text.includes('"name":"ToolSearch"')) {
    const args = { query: "select:mcp__sallyport__scrape", max_results: 5 };
    return { text: "I will look for it.", calls: [{ id: "call_find", name: "ToolSearch", args }] };
  }
  return { text: "There is no such tool." };
}

/** Whether the history contains a tool's result, in any protocol. */
function hasResult(text: string): boolean {
  return /"tool_result"|"role":"tool"/.test(text);
}
