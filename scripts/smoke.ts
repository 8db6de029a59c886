// Runs the compiled program as a new user would: from a directory that contains only traps, which must have no effect.
// Usage: bun scripts/smoke.ts [BINARY] [--with COMMAND]. The last line is `N passed, N failed`.
//
// `--with` runs a program of another machine or C library, as `--with "qemu-aarch64-static -L FOLDER"` or `--with
// "/lib/ld-musl-x86_64.so.1 --library-path FOLDER"`. How long a start takes and what it needs is then not judged.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { version } from "../package.json";
import { checkExtract, checkScrape } from "./smoke/pages.ts";

const { positionals, values } = parseArgs({ options: { with: { type: "string" } }, allowPositionals: true });
const runner = values.with?.split(" ") ?? [];
const binary = resolve(positionals[0] ?? join(import.meta.dir, "../dist/sallyport"));

/** The limits that the documents state for the program. */
const START_MS_MAX = 150;
/** The limit of the processor time until the first answer, for a machine on which other work delays every start. */
const START_CPU_MS_MAX = 160;
const IDLE_MEGABYTES_MAX = 75;
/** Everything here is fast, so a longer run is a failure. */
const STEP_MS_MAX = runner.length === 0 ? 30_000 : 300_000;

const home = mkdtempSync(join(tmpdir(), "sallyport-smoke-"));
let passed = 0;
let failed = 0;

try {
  layTraps();
  await checkCommands();
  await check("extract reads a page in a thread and checks the data in another", () => checkExtract(home, sallyport));
  await check("scrape turns a page into Markdown", () => checkScrape(home, sallyport));
  await checkUp();
  await checkServer();
  await check("no trap of the directory fired", () => equal(read("sprung"), undefined));
} finally {
  rmSync(home, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);

/** Code and settings that the program must not take from its working directory. */
function layTraps(): void {
  const trap = `require("node:fs").appendFileSync(${JSON.stringify(join(home, "sprung"))}, "code ran\\n");\n`;
  writeFileSync(join(home, "trap.js"), trap);
  writeFileSync(join(home, "bunfig.toml"), 'preload = ["./trap.js"]\n');
  // With this setting the program would refuse to start, since there is no such level.
  writeFileSync(join(home, ".env"), "SALLYPORT_LOG_LEVEL=sprung\nSALLYPORT_CONFIG=/nonexistent/sprung.yaml\n");
  writeFileSync(join(home, "package.json"), '{"name":"trap","imports":{"#x":"./trap.js"},"type":"commonjs"}\n');
  writeFileSync(join(home, "tsconfig.json"), '{"compilerOptions":{"paths":{"*":["./trap.js"]}}}\n');
}

async function checkCommands(): Promise<void> {
  await check("--version", async () => {
    const run = await sallyport("--version");
    equal(run.code, 0);
    contains(run.stdout, version);
  });
  await check("--help", async () => {
    const run = await sallyport("--help");
    equal(run.code, 0);
    contains(run.stdout, "serve");
  });
  await check("a bad argument: exit 2 and one line", async () => {
    const run = await sallyport("serve", "--no-such-flag");
    equal(run.code, 2);
    equal(run.stderr.trimEnd().split("\n").length, 1);
    equal(run.stdout, "");
  });
}

async function checkUp(): Promise<void> {
  await check("up --once answers one question and exits 0", async () => {
    const run = await sallyport("up", "--once", "--port", "0", "--data-dir", join(home, "up"));
    equal(run.code, 0, run.stderr);
    contains(run.stdout + run.stderr, "sk-");
    // The demo model repeats the question, so question and answer contain the same words.
    const words = run.stdout.split("\n").flatMap((line) => line.match(/[A-Z][\w',]+(?: [\w',]+){2,}/)?.[0] ?? []);
    equal(
      words.some((text, index) => words.indexOf(text) !== index),
      true,
      `stdout was: ${run.stdout}`,
    );
  });
}

async function checkServer(): Promise<void> {
  const data = ["--data-dir", join(home, "data")];
  const email = "smoke@example.org";
  let key = "";

  await check("an account and a key can be made", async () => {
    const account = await sallyport("account", "create", "--email", email, "--username", "smoke", "--json", ...data);
    equal(account.code, 0, account.stderr);
    equal(JSON.parse(account.stdout).email, email);
    const made = await sallyport("key", "create", "--account", email, "--name", "smoke", "--json", ...data);
    equal(made.code, 0, made.stderr);
    key = JSON.parse(made.stdout).key;
    equal(key.startsWith("sk-"), true);
  });

  await check("the first account is made with the link that serve prints, and only with it", async () => {
    const first = await startServer(["--data-dir", join(home, "first")]);
    try {
      await until(async () => first.stderr().includes("/dashboard/signup?setup="));
      const setup = /[?]setup=(\w+)/.exec(first.stderr())?.[1];
      const body = { email: "first@example.org", username: "first", password: "a passphrase of mine" };
      const send = (more: object) =>
        call(`${first.url}/dashboard/api/signup`, { method: "POST", body: JSON.stringify({ ...body, ...more }) });
      equal((await send({})).status, 403);
      const made = await send({ setup });
      equal(made.status, 200, await made.clone().text());
      equal((await made.json()).admin, true);
    } finally {
      first.child.kill("SIGKILL");
    }
  });

  let started: Server | undefined;
  await check("serve listens", async () => {
    started = await startServer(data);
  });
  // Without a server nothing can be requested; the failure is counted.
  if (started !== undefined) await checkRunning(started, { key, email, data });
}

async function checkRunning(server: Server, own: { key: string; email: string; data: string[] }): Promise<void> {
  const { key, email, data } = own;
  try {
    await check("serve prints exactly one line with its address", () => {
      equal(/^sallyport listening on http:\/\/127\.0\.0\.1:\d+\n$/.test(server.stdout()), true, server.stdout());
    });
    await check("/livez", async () => equal((await call(`${server.url}/livez`)).status, 200));
    await check("/v1/models lists the demo model", async () => {
      const models = await (await call(`${server.url}/v1/models`, { headers: bearer(key) })).text();
      contains(models, '"demo-echo"');
    });
    await check("no key: 401 in the envelope, with a request id", async () => {
      const answer = await call(`${server.url}/v1/chat/completions`, { method: "POST", body: "{}" });
      equal(answer.status, 401);
      equal((answer.headers.get("x-request-id") ?? "") !== "", true);
      equal((await answer.json()).error.code, "missing_api_key");
    });
    await checkAnswers(server, key);
    await check("a key made beside the running server works, revoked it does not", async () => {
      const made = JSON.parse(
        (await sallyport("key", "create", "--account", email, "--name", "second", "--json", ...data)).stdout,
      );
      equal((await chat(server.url, made.key, { content: "hi" })).status, 200);
      equal((await sallyport("key", "revoke", "--id", made.id, ...data)).code, 0);
      await until(async () => (await chat(server.url, made.key, { content: "hi" })).status === 401);
    });
    await check("a second serve on the same data is refused", async () => {
      equal((await sallyport("serve", "--port", "0", ...data)).code, 1);
    });
    await check("the dashboard: page, files, sign-up, a key that works", () => checkDashboard(server.url));
    await check("a backup of the running program is restored with its accounts", async () => {
      const [archive, restored] = [join(home, "backup.tar"), join(home, "restored")];
      const backup = await sallyport("backup", archive, ...data);
      equal(backup.code, 0, backup.stderr);
      const restore = await sallyport("restore", archive, "--data-dir", restored);
      equal(restore.code, 0, restore.stderr);
      contains((await sallyport("account", "list", "--data-dir", restored)).stdout, email);
    });
    await check("doctor says what it found", async () => {
      const doctor = await sallyport("doctor", ...data);
      equal(doctor.code === 0 || doctor.code === 1, true, doctor.stderr);
      contains(doctor.stdout, "database");
    });
    await check("healthcheck", async () => {
      equal((await sallyport("healthcheck", "--url", `${server.url}/livez`)).code, 0);
    });
    if (runner.length === 0) await checkFigures();
    await check("SIGTERM: the open stream ends whole, then exit 0", async () => {
      const words = Array.from({ length: 400 }, (_, index) => `word${index}`).join(" ");
      const answer = await chat(server.url, key, { content: words, stream: true });
      server.child.kill("SIGTERM");
      const text = await answer.text();
      contains(text, "word399");
      contains(text, "data: [DONE]");
      equal(await server.child.exited, 0);
      equal(server.stdout().split("\n").length, 2, server.stdout());
    });
  } finally {
    server.child.kill("SIGKILL");
  }
}

async function checkFigures(): Promise<void> {
  await check(`starts in under ${START_MS_MAX} ms and idles under ${IDLE_MEGABYTES_MAX} MB`, async () => {
    // The best of five measurements, since the machine may be busy and only the program is measured.
    const figures = [];
    for (let run = 0; run < 5; run += 1) figures.push(await measureStart(join(home, `start-${run}`)));
    const start = Math.min(...figures.map((one) => one.startMs));
    const memory = Math.min(...figures.map((one) => one.megabytes));
    const cpu = Math.min(...figures.map((one) => one.cpuMs));
    console.log(`     start ${start.toFixed(0)} ms (processor ${cpu} ms), idle ${memory.toFixed(0)} MB`);
    equal(start < START_MS_MAX || cpu < START_CPU_MS_MAX, true, `${start} ms, processor ${cpu} ms`);
    equal(memory < IDLE_MEGABYTES_MAX, true, `${memory} MB`);
  });
}

/** Whole and streamed answers in every client format. */
async function checkAnswers(server: Server, key: string): Promise<void> {
  await check("a chat completion", async () => {
    const answer = await chat(server.url, key, { content: "hello out there" });
    equal(answer.status, 200);
    const { choices, created } = await answer.json();
    contains(choices[0].message.content, "hello out there");
    equal(Math.abs(created - Date.now() / 1000) < 60, true, `created ${created}`);
  });
  await check("every client format is answered", async () => {
    const messages = [{ role: "user", content: "hello out there" }];
    const bodies = {
      messages: { max_tokens: 100, messages },
      responses: { input: "hello out there" },
      completions: { prompt: "hello out there" },
    };
    for (const [path, body] of Object.entries(bodies)) {
      const answer = await post(`${server.url}/v1/${path}`, key, body);
      equal(answer.status, 200, path);
      contains(await answer.text(), "hello out there");
    }
  });
  await check("a streamed chat completion", async () => {
    const answer = await chat(server.url, key, { content: "hello out there", stream: true });
    equal(answer.status, 200);
    const frames = (await answer.text()).split("\n\n").filter((frame) => frame.startsWith("data: "));
    equal(frames.at(-1), "data: [DONE]");
    const chunks = frames.slice(0, -1).map((frame) => JSON.parse(frame.slice(6)));
    const text = chunks.map((chunk) => chunk.choices[0]?.delta?.content ?? "").join("");
    contains(text, "hello out there");
  });
}

/** Files that the executable contains. */
async function checkDashboard(url: string): Promise<void> {
  const page = await (await call(`${url}/dashboard/signup`)).text();
  const files = [...page.matchAll(/(?:href|src)="(\/dashboard\/assets\/[^"]+)"/g)].map(([, path]) => path);
  equal(files.length, 3, page);
  for (const file of files) equal((await call(url + file)).status, 200, file);
  const send = (path: string, body: unknown, cookie = "") =>
    call(`${url}/dashboard/api${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url, cookie },
      body: JSON.stringify(body),
    });
  const signed = await send("/signup", { email: "d@example.org", username: "dash", password: "a passphrase of mine" });
  equal(signed.status, 200, await signed.clone().text());
  const [cookie] = (signed.headers.get("set-cookie") ?? "").split(";");
  const signIn = await send("/login", { username_or_email: "d@example.org", password: "a passphrase of mine" });
  equal(signIn.status, 200, await signIn.clone().text());
  const { key } = await (await send("/keys", { name: "smoke" }, cookie)).json();
  equal((await chat(url, key, { content: "hi" })).status, 200);
}

/** The time from the start to the first answer, and the resident memory shortly afterwards, with new data. */
async function measureStart(dataDir: string): Promise<{ startMs: number; cpuMs: number; megabytes: number }> {
  // The first start creates the database. The documented time applies to later starts.
  const first = await startServer(["--data-dir", dataDir]);
  first.child.kill("SIGTERM");
  await first.child.exited;
  const started = performance.now();
  const server = await startServer(["--data-dir", dataDir]);
  await call(`${server.url}/livez`);
  const startMs = performance.now() - started;
  const cpuMs = cpuOf(server.child.pid);
  await Bun.sleep(500); // Idle means idle.
  const status = readFileSync(`/proc/${server.child.pid}/status`, "utf8");
  server.child.kill("SIGTERM");
  await server.child.exited;
  return { startMs, cpuMs, megabytes: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024 };
}

/** The processor time of a process so far, in steps of 10 ms. */
function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

interface Server {
  url: string;
  child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  stdout(): string;
  stderr(): string;
}

/** Starts `serve` and waits for its line on stdout. */
async function startServer(args: readonly string[]): Promise<Server> {
  const child = spawn(["serve", "--port", "0", ...args]);
  let stdout = "";
  let stderr = "";
  const listening = Promise.withResolvers<string>();
  const collect = async () => {
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      stdout += chunk;
      const url = /http:\/\/\S+(?=\n)/.exec(stdout)?.[0];
      if (url !== undefined) listening.resolve(url);
    }
    listening.reject(new Error(`serve ended: ${stdout}${stderr}`));
  };
  const collectErrors = async () => {
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) stderr += chunk;
  };
  void collectErrors();
  void collect();
  return { url: await within(listening.promise, "serve to listen"), child, stdout: () => stdout, stderr: () => stderr };
}

async function sallyport(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(args);
  const kill = setTimeout(() => child.kill("SIGKILL"), STEP_MS_MAX);
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const code = await child.exited;
  clearTimeout(kill);
  return { code, stdout, stderr };
}

/** Starts the program in the directory with the traps, without any of its variables in the environment. */
function spawn(args: readonly string[]): Bun.Subprocess<"ignore", "pipe", "pipe"> {
  return Bun.spawn([...runner, binary, ...args], {
    cwd: home,
    env: { PATH: "/usr/bin:/bin", HOME: home, TMPDIR: home },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

function bearer(key: string) {
  return { authorization: `Bearer ${key}` };
}

function call(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, signal: AbortSignal.timeout(STEP_MS_MAX) });
}

function chat(url: string, key: string, ask: { content: string; stream?: boolean }): Promise<Response> {
  const messages = [{ role: "user", content: ask.content }];
  return post(`${url}/v1/chat/completions`, key, { messages, stream: ask.stream ?? false });
}

function post(url: string, key: string, body: Record<string, unknown>): Promise<Response> {
  return call(url, {
    method: "POST",
    headers: { ...bearer(key), "content-type": "application/json" },
    body: JSON.stringify({ model: "demo-echo", ...body }),
  });
}

async function check(name: string, work: () => unknown): Promise<void> {
  try {
    await within(Promise.resolve(work()), name);
    passed += 1;
    console.log(`ok   ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function within<T>(work: Promise<T>, what: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`waited ${STEP_MS_MAX} ms for ${what}`)), STEP_MS_MAX);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  // A revoked key is refused within a second. The second more is for a busy machine.
  const end = performance.now() + 2000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error("it did not come true in 2 s");
    await Bun.sleep(50);
  }
}

function equal(actual: unknown, expected: unknown, note = ""): void {
  if (actual === expected) return;
  throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)} ${note}`.trim());
}

function contains(text: string, part: string): void {
  if (!text.includes(part))
    throw new Error(`expected ${JSON.stringify(part)} in ${JSON.stringify(text.slice(0, 500))}`);
}

function read(name: string): string | undefined {
  try {
    return readFileSync(join(home, name), "utf8");
  } catch {
    return undefined; // The good case: the trap wrote nothing.
  }
}
