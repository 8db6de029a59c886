// Has Claude Code and Codex search the web with their own tool, over providers of every protocol that have no search, so that the
// gateway searches; a scripted model tells them to. Run it by hand: `bun scripts/agent-search.ts [--keep FOLDER]`. The agents are
// installed into a folder outside the repository.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestApp, type TestApp } from "../test/support/app.ts";
import { DIALECTS, type DialectName, KINDS, type Said, say } from "../test/support/fake-model.ts";
import { page } from "../test/support/fake-site.ts";
import { type Received, startUpstream } from "../test/support/upstream.ts";
import { startSearchSite } from "../test/web/search-site.ts";
import { webConfig } from "../test/web/support.ts";
import { installAgents } from "./agents/install.ts";

const RUN_TIMEOUT_MS = 120_000;
const TASK = "Search the web for rye, and tell me what you find.";
/** A word that only the page contains. */
const SECRET = "Periwinkle";
const DONE = `The page is about ${SECRET} [1].`;

const argv = process.argv.slice(2);
const keep = argv.includes("--keep") ? argv[argv.indexOf("--keep") + 1] : undefined;
const folder = keep ?? mkdtempSync(join(tmpdir(), "sallyport-agents-"));
const agent = (name: string) => join(folder, "node_modules/.bin", name);

/** The agents' commands. */
const AGENTS = {
  claude: (dialect: DialectName) => [
    agent("claude"),
    ...["-p", TASK, "--dangerously-skip-permissions", "--model", `claude-${dialect}`],
  ],
  codex: () => [
    agent("codex"),
    ...["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
    ...["check_for_update_on_startup=false", "analytics.enabled=false"].flatMap((setting) => ["-c", setting]),
    TASK,
  ],
} as const;
type AgentName = keyof typeof AGENTS;

process.exit(await run());

async function run(): Promise<number> {
  installAgents(folder, ["claude", "codex"]);
  const upstream = startUpstream();
  upstream.answer((received) => say(received, reply(received)));
  const site = startSearchSite({ "/rye": page(SECRET) });
  site.lists("searxng", [{ url: `${site.url}/rye`, title: "Rye" }]);
  const app = await startTestApp({
    config: {
      ...webConfig([site.host]),
      ...site.config(["searxng"]),
      providers: Object.fromEntries(
        DIALECTS.map((name) => [
          name,
          { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false },
        ]),
      ),
      models: DIALECTS.map((provider) => ({
        ...{ id: `gpt-5.5-${provider}`, aliases: [`claude-${provider}`], supports_reasoning: true },
        routes: [{ provider, model: "up-model" }],
      })),
      tiers: { premium: { rpm: 10_000 } },
    },
  });
  let failures = 0;
  for (const name of ["claude", "codex"] as const) {
    for (const dialect of DIALECTS) {
      upstream.received.length = 0;
      const problems = await problemsOf(name, dialect, app);
      if (!upstream.received.some(({ text }) => text.includes("It is data") || text.includes("Their text is data")))
        problems.push("the model got no results");
      failures += problems.length > 0 ? 1 : 0;
      const lines = problems.map((problem) => `     ${problem}\n`).join("");
      process.stdout.write(`${problems.length === 0 ? "ok  " : "FAIL"} ${name} over ${dialect}\n${lines}`);
    }
  }
  await app.stop();
  await site.stop();
  await upstream.stop();
  if (keep === undefined) rmSync(folder, { recursive: true, force: true });
  return failures === 0 ? 0 : 1;
}

async function problemsOf(name: AgentName, dialect: DialectName, app: TestApp): Promise<string[]> {
  const home = mkdtempSync(join(folder, "home-"));
  const work = mkdtempSync(join(folder, "work-"));
  mkdirSync(join(home, ".codex"));
  const provider = `name = "Sallyport"\nbase_url = "${app.url}/v1"\nenv_key = "SALLYPORT_KEY"\nwire_api = "responses"\n`;
  const top = `model = "gpt-5.5-${dialect}"\nmodel_provider = "sallyport"\nweb_search = "live"\n`;
  writeFileSync(join(home, ".codex/config.toml"), `${top}\n[model_providers.sallyport]\n${provider}`);
  const env = {
    ...{ PATH: process.env["PATH"], HOME: home, CODEX_HOME: join(home, ".codex"), SALLYPORT_KEY: app.key },
    ...{ ANTHROPIC_BASE_URL: app.url, ANTHROPIC_AUTH_TOKEN: app.key },
    ANTHROPIC_DEFAULT_HAIKU_MODEL: `claude-${dialect}`,
    // Run as root, it requires a statement that it is in a sandbox.
    ...{ IS_SANDBOX: "1", DISABLE_TELEMETRY: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
  };
  const child = Bun.spawn([...AGENTS[name](dialect)], { cwd: work, env, stdio: ["ignore", "pipe", "pipe"] });
  const timer = setTimeout(() => child.kill(), RUN_TIMEOUT_MS);
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  clearTimeout(timer);
  for (const path of [home, work]) rmSync(path, { recursive: true, force: true });
  return out.includes(DONE) ? [] : [`the agent did not report the model's last words: ${(out + err).slice(-800)}`];
}

/**
 * The model's behaviour: it asks the agent for its search tool, searches where it is given a function for it, and reports the page.
 * Claude Code searches by a request of its own, whose answer its tool returns.
 */
function reply({ text }: Received): Said {
  if (text.includes(SECRET)) return { text: DONE };
  const call = (name: string, args: Record<string, unknown>) => ({ calls: [{ id: `call_${name}`, name, args }] });
  const has = (name: string) => new RegExp(`"name":\\s*"${name}"`).test(text);
  if (has("web_search")) return call("web_search", { query: "rye" });
  if (has("WebSearch")) return call("WebSearch", { query: "rye" });
  if (has("ToolSearch") && !/"tool_result"|"role":"tool"|function_call_output|functionResponse/.test(text)) {
    return call("ToolSearch", { query: "select:WebSearch", max_results: 5 });
  }
  return { text: "There is no such tool." };
}
