// Measures how long a streaming chat waits for its chunks while hostile pages are converted. It uses the real program,
// an upstream that sends a chunk every 20 ms, and twenty concurrent scrapes of pages that are as expensive as possible;
// then two maps of a site with such a sitemap and robots.txt. The result is only meaningful on an otherwise idle
// machine.
// `bun scripts/bench/hostile.ts [--binary dist/sallyport] [--rounds N] [--only KIND]`.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startHostileSite } from "./hostile-site.ts";

const CHUNK_MS = 20;
const CALM_MS = 6000;
const SCRAPES = 20;
const MAPS = 2;
const ROOT = join(import.meta.dir, "../..");

const { values: options } = parseArgs({
  options: { binary: { type: "string" }, rounds: { type: "string", default: "1" }, only: { type: "string" } },
});

/** The clock of both the sender and the receiver, which run in one process. */
const now = () => performance.now();

/** Streams for as long as the client listens; each chunk contains the time when it was sent. */
function startUpstream() {
  const frame = (delta: object) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: (request) => {
      if (request.method === "GET") return Response.json({ object: "list", data: [{ id: "m", object: "model" }] });
      const { signal } = request;
      const stream = new ReadableStream({
        type: "direct",
        pull: async (controller: ReadableStreamDirectController) => {
          while (!signal.aborted) {
            controller.write(frame({ content: `${now()} ` }));
            await controller.flush();
            await Bun.sleep(CHUNK_MS);
          }
          controller.close();
        },
      } as unknown as UnderlyingSource);
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    },
  });
}

/** Reads a chat's stream until it is stopped; returns how long each chunk took. */
function listen(url: string, key: string) {
  const abort = new AbortController();
  const delays: number[] = [];
  const done = (async () => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "go" }] }),
      signal: abort.signal,
    });
    if (!response.ok || response.body === null) throw new Error(`chat: ${response.status} ${await response.text()}`);
    const decoder = new TextDecoder();
    let rest = "";
    for await (const block of response.body) {
      const at = now();
      const lines = (rest + decoder.decode(block, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const sent = /"content":"([\d.]+) "/.exec(line)?.[1];
        if (sent !== undefined) delays.push(at - Number(sent));
      }
    }
  })().catch((error: unknown) => {
    if (!abort.signal.aborted) throw error;
  });
  return {
    delays,
    stop: async () => {
      abort.abort();
      await done;
      return delays;
    },
  };
}

function figures(label: string, delays: readonly number[]): void {
  const sorted = [...delays].sort((a, b) => a - b);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
  const late = sorted.filter((ms) => ms > 50).length;
  process.stdout.write(
    `${label.padEnd(26)} ${String(sorted.length).padStart(5)} chunks   p50 ${at(0.5)}   p99 ${at(0.99)}   max ${at(1)} ms   over 50 ms: ${late}\n`,
  );
}

async function run(command: readonly string[], stdin = ""): Promise<string> {
  const child = Bun.spawn([...command], { stdin: new Blob([stdin]), stdout: "pipe", stderr: "inherit", cwd: folder });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(command.join(" "));
  return text;
}

const folder = mkdtempSync(join(tmpdir(), "sallyport-hostile-"));
const upstream = startUpstream();
const site = await startHostileSite();
const config = join(folder, "sallyport.yaml");
await Bun.write(
  config,
  JSON.stringify({
    providers: { up: { kind: "openai", base_url: `http://127.0.0.1:${upstream.port}/v1`, api_key: "x" } },
    web: { allow_hosts: [`127.0.0.1:${site.port}`], render: "never", max_page: "20MiB" },
    log: { level: "warn" },
  }),
);
const program =
  options.binary === undefined ? [process.execPath, join(ROOT, "src/main.ts")] : [join(process.cwd(), options.binary)];
const common = ["--config", config, "--data-dir", join(folder, "data")];
await run([
  ...program,
  "account",
  "create",
  "--email",
  "b@example.com",
  "--username",
  "b",
  "--tier",
  "premium",
  "--json",
  ...common,
]);
const { key } = JSON.parse(
  await run([...program, "key", "create", "--account", "b@example.com", "--name", "b", "--json", ...common]),
) as { key: string };
const server = Bun.spawn([...program, "serve", "--port", "0", ...common], {
  cwd: folder,
  stdout: "pipe",
  stderr: "inherit",
});
try {
  const { value } = await server.stdout.getReader().read();
  const url = /http:\S+/.exec(new TextDecoder().decode(value))?.[0] ?? "";
  const calm = listen(url, key);
  await Bun.sleep(CALM_MS);
  figures("calm", (await calm.stop()).slice(10));
  for (let round = 1; round <= Number(options.rounds); round++) {
    const kinds = site.kinds.filter((kind) => options.only === undefined || kind === options.only);
    const chat = listen(url, key);
    while (chat.delays.length < 10) await Bun.sleep(10);
    const from = chat.delays.length;
    const began = now();
    const answers = await Promise.all(
      Array.from({ length: SCRAPES }, async (_, n) => {
        const kind = kinds[n % kinds.length] as string;
        const response = await fetch(`${url}/v1/scrape`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({
            url: `http://127.0.0.1:${site.port}/${kind}?${n}`,
            formats: ["markdown", "html", "links"],
            documents: true,
            timeout_ms: 300_000,
          }),
        });
        const bytes = (await response.arrayBuffer()).byteLength;
        return `${kind} ${response.status} ${(bytes / 1e6).toFixed(1)} MB ${((now() - began) / 1000).toFixed(1)} s`;
      }),
    );
    const maps = await Promise.all(
      Array.from({ length: options.only === undefined ? MAPS : 0 }, async (_, n) => {
        const response = await fetch(`${url}/v1/map`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ url: `http://127.0.0.1:${site.port}/links?${n}` }),
        });
        return `map ${response.status} ${((await response.json()) as { total: number }).total} links`;
      }),
    );
    const during = (await chat.stop()).slice(from);
    figures(`with ${SCRAPES} scrapes, round ${round}`, during);
    if (round === 1) process.stdout.write(`  ${[...answers, ...maps].join("\n  ")}\n`);
  }
} finally {
  server.kill("SIGKILL");
  await server.exited;
  await upstream.stop(true);
  site.stop();
  rmSync(folder, { recursive: true, force: true });
}
