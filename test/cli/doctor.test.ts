import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FakeClock } from "../../src/base/clock.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { rememberProxy } from "../../src/status/untrusted-proxy.ts";
import { DATABASE_FILE, openStore } from "../../src/store/engine/open.ts";
import { settingsStore } from "../../src/store/settings.ts";
import { UsageTally } from "../../src/store/usage/record.ts";
import { usageStore } from "../../src/store/usage/usage.ts";
import { usageRecord } from "../store/records.ts";
import { tempDir } from "../store/support.ts";
import { startMailServer } from "../support/mail-server.ts";
import { FakeTerminal } from "../support/terminal.ts";

/** The requests that the upstream received, and its answers by the first path segment. */
const seen = new Map<string, Headers>();
const answers: Record<string, () => Response> = {
  good: () => Response.json({ object: "list", data: [{ id: "a" }, { id: "b" }] }),
  native: () => Response.json({ models: [{ name: "a" }] }),
  refused: () => Response.json({ error: "bad key sk-secret-key-123" }, { status: 401 }),
  absent: () => new Response("no", { status: 404 }),
  broken: () => new Response("oops", { status: 500 }),
  html: () => new Response("<html>"),
  moved: () => Response.redirect("/good/models", 302),
};
let server: Bun.Server<undefined>;
beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const [, name = "", rest] = new URL(request.url).pathname.split("/");
      seen.set(name, request.headers);
      return rest === "models"
        ? (answers[name]?.() ?? new Response("?", { status: 400 }))
        : new Response("?", { status: 400 });
    },
  });
});
afterAll(() => server.stop(true));

async function doctor(config: string, cwd = tempDir()) {
  writeFileSync(join(cwd, "sallyport.yaml"), config.replaceAll("BASE", server.url.href.replace(/\/$/, "")));
  const run = async (...argv: string[]) => {
    const io = new FakeTerminal();
    const code = await runCommandLine(["doctor", ...argv], { version: "0", io, surroundings: { env: {}, cwd } });
    return { code, out: io.stdout };
  };
  const { code, out } = await run("--json");
  const { ok, checks } = JSON.parse(out) as {
    ok: boolean;
    checks: { name: string; status: string; message: string }[];
  };
  expect(ok).toBe(code === 0);
  const plain = await run();
  expect(plain.code).toBe(code);
  const lines = plain.out.trimEnd().split("\n");
  // One line for each check, an empty line, and the summary.
  expect(lines).toHaveLength(checks.length + 2);
  const open = checks.filter(({ status }) => status !== "ok").length;
  expect(lines.at(-1)).toStartWith(open === 0 ? "Everything is in order." : `${open} thing`);
  return { code, all: out + plain.out, find: (name: string) => checks.find((check) => check.name === name) };
}

const REST = "web: {browser: {executable: /nowhere/chromium}}\n";

test("all well, though there is no browser and no database yet", async () => {
  const { code, find } = await doctor(`${REST}providers: {mine: {base_url: BASE/good, api_key: k}}`);
  expect(code).toBe(0);
  expect(find("browser")).toMatchObject({ status: "warning" });
  expect(find("database")).toMatchObject({ status: "ok", message: expect.stringContaining("none yet") });
  expect(find("provider mine")).toMatchObject({ status: "ok", message: expect.stringContaining("lists 2 models") });
  expect(find("provider demo")).toMatchObject({ status: "ok" });
});

const providers: [string, string, string, string][] = [
  ["native", "kind: systemone", "ok", "lists 1 model"],
  ["refused", "api_key: sk-secret-key-123", "failed", "refused the key: check providers.refused.api_key (401)"],
  ["refused", "kind: openai", "failed", "needs a key: set providers.refused.api_key (401)"],
  ["refused", "preset: groq", "failed", "providers.refused.api_key or GROQ_API_KEY"],
  ["absent", "kind: openai", "warning", "answers 404"],
  ["broken", "kind: openai", "failed", "answers 500"],
  ["html", "kind: openai", "failed", "returns no model list"],
  ["moved", "kind: openai", "failed", "answers 302"],
];
test.each(providers)("a provider that is %s (%s) is %s", async (name, keys, status, message) => {
  const { code, find, all } = await doctor(`${REST}providers: {${name}: {base_url: BASE/${name}, ${keys}}}`);
  expect(find(`provider ${name}`)).toMatchObject({ status, message: expect.stringContaining(message) });
  expect(code).toBe(status === "failed" ? 1 : 0);
  expect(all).not.toContain("sk-secret");
});

const doubtful: [string, string][] = [
  ["openai: {}", "providers.openai.api_key is empty, and OpenAI needs a key: set it or OPENAI_API_KEY"],
  ["mine: {base_url: https://api.openai.com/v1}", "providers.mine.api_key is empty, and OpenAI needs a key"],
  [
    "openai: {api_key: k, base_url: https://api.openai.com}",
    "providers.openai.base_url has no path; that of OpenAI is https://api.openai.com/v1",
  ],
  ["mine: {base_url: http://127.0.0.1:9}", "It has no path, and most servers want one, such as http://127.0.0.1:9/v1."],
];
test.each(doubtful)("%s: the doctor names the key of the configuration", async (entry, message) => {
  const { find } = await doctor(`${REST}providers: {${entry}}`);
  const name = entry.slice(0, entry.indexOf(":"));
  expect(find(`provider ${name}`)).toMatchObject({ message: expect.stringContaining(message) });
});

test("a provider that is not there fails and its password stays hidden", async () => {
  const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = gone;
  await gone.stop(true);
  const { code, find, all } = await doctor(
    `${REST}providers: {x: {base_url: "http://u:secretpw@127.0.0.1:${port}/v1"}}`,
  );
  expect(code).toBe(1);
  expect(find("provider x")?.message).toContain("cannot be reached");
  expect(all).not.toContain("secretpw");
});

const credentials: [string, string, Record<string, string>][] = [
  ["openai", "good", { authorization: "Bearer the-key" }],
  ["anthropic", "good", { "x-api-key": "the-key", "anthropic-version": "2023-06-01" }],
  ["gemini", "native", { "x-goog-api-key": "the-key" }],
  ["systemone", "native", { authorization: "Bearer the-key" }],
];
test.each(credentials)("kind %s: the credential stands where it is looked for", async (kind, path, headers) => {
  await doctor(
    `${REST}providers: {p: {kind: ${kind}, base_url: BASE/${path}, api_key: the-key, headers: {X-Extra: "1"}}}`,
  );
  for (const [name, value] of Object.entries({ ...headers, "x-extra": "1" }))
    expect(seen.get(path)?.get(name)).toBe(value);
  if ("x-api-key" in headers || "x-goog-api-key" in headers) expect(seen.get(path)?.has("authorization")).toBe(false);
});

test("every problem of a bad configuration is a failed check", async () => {
  const { code, all } = await doctor("server: {port: x}\nprot: 1");
  expect(code).toBe(1);
  expect(all).toContain("server.port: expected a whole number");
  expect(all).toContain("prot: unknown key");
});

test("a database that is sound, one that is damaged, and a data_dir that is a file", async () => {
  const cwd = tempDir();
  openStore({ dataDir: join(cwd, "data") }).close();
  expect((await doctor("", cwd)).find("database")).toMatchObject({
    status: "ok",
    message: join(cwd, "data", DATABASE_FILE),
  });
  mkdirSync(join(cwd, "bad"));
  writeFileSync(join(cwd, "bad", DATABASE_FILE), "this is no database at all, whatever its name says".repeat(99));
  expect((await doctor("data_dir: bad", cwd)).find("database")).toMatchObject({ status: "failed" });
  const worn = openStore({ dataDir: join(cwd, "worn") });
  const query = "SELECT rootpage FROM sqlite_schema WHERE name = 'audit_log'";
  const [{ rootpage }] = worn.sqlite.query<{ rootpage: number }, []>(query).all() as [{ rootpage: number }];
  worn.close();
  // The file opens, as nothing reads this table then.
  const bytes = readFileSync(join(cwd, "worn", DATABASE_FILE));
  writeFileSync(join(cwd, "worn", DATABASE_FILE), bytes.fill(0xa5, (rootpage - 1) * 4096, rootpage * 4096));
  expect((await doctor("data_dir: worn", cwd)).find("database")).toMatchObject({
    status: "failed",
    message: expect.stringContaining("is damaged"),
  });
  writeFileSync(join(cwd, "file"), "");
  expect((await doctor("data_dir: file", cwd)).find("database")).toMatchObject({ status: "failed" });
});

test("only the demo model: a warning that says which variable to set", async () => {
  const { code, find } = await doctor(`${REST}providers: {demo: {enabled: true}}`);
  expect(code).toBe(0);
  expect(find("providers")).toMatchObject({ status: "warning", message: expect.stringContaining("OPENAI_API_KEY") });
  const { find: findMine } = await doctor(`${REST}providers: {mine: {base_url: BASE/good, api_key: k}}`);
  expect(findMine("providers")).toBeUndefined();
});

test("MCP servers are asked for their tools", async () => {
  const sample = JSON.stringify([process.execPath, join(import.meta.dir, "../mcp/sample-server.ts")]);
  const { code, find } = await doctor(`${REST}providers: {mine: {base_url: BASE/good, api_key: k}}
mcp:
  servers:
    sample: {command: ${sample}, tools: [echo]}
    other: {command: ${sample}, tools: [nothing]}
    gone: {url: "http://127.0.0.1:9/mcp"}
`);
  expect(code).toBe(1);
  expect(find("mcp sample")).toMatchObject({ status: "ok", message: "answers, with 1 tool" });
  expect(find("mcp other")).toMatchObject({ status: "warning" });
  expect(find("mcp gone")).toMatchObject({ status: "failed", message: 'The MCP server "gone" cannot be reached.' });
});

test("mail: the outbox is named, a server is signed in to, one that refuses fails without its password", async () => {
  const { find } = await doctor(REST);
  expect(find("mail")).toMatchObject({ status: "ok", message: expect.stringContaining("/outbox") });
  const mail = await startMailServer();
  const takes = await doctor(`${REST}email: {smtp_url: "${mail.url}"}`);
  expect(takes.find("mail")).toMatchObject({ status: "ok" });
  const refused = await doctor(`${REST}email: {smtp_url: "${mail.url.replace("smtp-pass-word-1", "wrong-secret")}"}`);
  expect(refused.find("mail")).toMatchObject({ status: "failed", message: expect.stringContaining("EAUTH") });
  expect(refused.all).not.toContain("wrong-secret");
  expect(mail.mails).toHaveLength(0);
  await mail.close();
});

test("the webhook of alerts is tried, and named if it does not take them", async () => {
  let status = 204;
  const bodies: string[] = [];
  const hook = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      bodies.push(await request.text());
      return new Response(null, { status });
    },
  });
  const alerts = `alerts: {webhook: "${hook.url.href}hook?token=planted", webhook_secret: s}`;
  expect((await doctor(REST)).find("alerts")).toBeUndefined();
  expect((await doctor(REST + alerts)).find("alerts")).toMatchObject({ status: "ok" });
  expect(JSON.parse(bodies[0]!)).toEqual({ type: "test", at: expect.any(String), subject: "doctor", details: {} });
  status = 401;
  const refused = await doctor(REST + alerts);
  expect(refused.find("alerts")).toEqual({
    name: "alerts",
    status: "failed",
    message: `127.0.0.1:${hook.port} (alerts.webhook) did not take a test alert: the server answered with status 401`,
  });
  expect(refused.all).not.toContain("planted");
  await hook.stop(true);
  const gone = await doctor(REST + alerts);
  expect(gone.find("alerts")).toMatchObject({ status: "failed" });
});

test("decision models are looked at, also where the database cannot be opened", async () => {
  const models =
    "decisions: {models: [{id: x-1.0.0, calibration: /nowhere/c.json, backend: {routes: [{provider: demo, model: m}]}}]}\n";
  const fresh = await doctor(REST + models);
  expect(fresh.find("decisions")).toMatchObject({
    status: "warning",
    message: expect.stringContaining("/nowhere/c.json"),
  });
  const cwd = tempDir();
  mkdirSync(join(cwd, "data"));
  writeFileSync(join(cwd, "data", DATABASE_FILE), "this is no database, however long it is read");
  const broken = await doctor(`data_dir: ./data\n${REST}${models}`, cwd);
  expect(broken.find("database")).toMatchObject({ status: "failed" });
  expect(broken.find("decisions")).toMatchObject({
    status: "warning",
    message: expect.stringContaining("not checked"),
  });
});

test("budgets that models without prices slip past are named, discovered models too", async () => {
  const providers = "providers: {up: {kind: openai, base_url: BASE/good}}\n";
  expect((await doctor(REST + providers)).find("budgets")).toBeUndefined();
  const budget = "tiers: {free: {budget: {usd: 1}}}\n";
  expect((await doctor(REST + providers + budget)).find("budgets")).toEqual({
    name: "budgets",
    status: "warning",
    message: expect.stringContaining("no price is known for a, b: "),
  });
  const priced =
    "providers: {up: {kind: openai, base_url: BASE/good, model_defaults: {prices: {input: 1, output: 1}}}}\n";
  expect((await doctor(REST + priced + budget)).find("budgets")?.status).toBe("ok");
  const silent = "providers: {broken: {base_url: BASE/broken, api_key: k}}\n";
  expect((await doctor(REST + silent + budget)).find("budgets")).toMatchObject({
    status: "warning",
    message: expect.stringContaining("no model list from broken"),
  });
});

test("models that were used without a known price are named, with no budget too", async () => {
  const cwd = tempDir();
  const find = async (more: string) => (await doctor(`data_dir: ./data\n${REST}${more}`, cwd)).find("prices");
  const store = openStore({ dataDir: join(cwd, "data") });
  const tally = new UsageTally();
  for (const [model, daysAgo] of [
    ["a", 0],
    ["gone", 0],
    ["b", 40],
  ] as const) {
    tally.add(usageRecord({ model, createdAtMs: Date.now() - daysAgo * 86_400_000 }));
  }
  await usageStore(store).writeUsage({ id: "used", rows: [], sums: [...tally.values()] });
  store.close();
  expect(await find("providers: {up: {kind: openai, base_url: BASE/good}}\n")).toEqual({
    name: "prices",
    status: "warning",
    message: expect.stringMatching(/^used in the last 30 days without a known price: a; /),
  });
  const priced = "model_defaults: {prices: {input: 1, output: 1}}";
  expect(await find(`providers: {up: {kind: openai, base_url: BASE/good, ${priced}}}\n`)).toBeUndefined();
});

test("a peer that sent a proxy's headers is reported for some days, until it is a trusted proxy", async () => {
  const cwd = tempDir();
  const find = async (more = "") => (await doctor(`data_dir: ./data\n${REST}${more}`, cwd)).find("proxy");
  const store = openStore({ dataDir: join(cwd, "data") });
  const see = (daysAgo: number) =>
    rememberProxy(settingsStore(store), new FakeClock(Date.now() - daysAgo * 86_400_000), "172.17.0.1");
  expect(await find()).toBeUndefined();
  await see(1);
  expect(await find()).toMatchObject({
    status: "warning",
    message: expect.stringMatching(/^172\.17\.0\.1: .*trusted_proxies/),
  });
  expect(await find('server: {trusted_proxies: ["172.17.0.0/16"]}')).toBeUndefined();
  await see(8);
  expect(await find()).toBeUndefined();
  store.close();
});

test("a misspelt quirk fails, with the name that was probably meant", async () => {
  const { code, all } = await doctor(
    "providers:\n  x:\n    base_url: BASE/good\n    quirks:\n      max_token_field: max_tokens\n",
  );
  expect(code).not.toBe(0);
  expect(all).toContain("unknown key (did you mean providers.x.quirks.max_tokens_field?)");
});
