// What each kind of credential costs beside a key, in processor time of the caller for a request: `bun
// scripts/bench/credentials.ts`. One process calls one provider, which is another process, with all kinds in turn, so that the load of
// the machine is the same for all. The difference is taken within each round, and its median is shown: what the credential itself
// needs ("own"), and what the whole call needs more, which is made in another way than with a key ("call").

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KNOWN_NAMES } from "../../src/app/names.ts";
import { Stop } from "../../src/base/stop-signal.ts";
import { loadConfig } from "../../src/config/load.ts";
import { callProvider } from "../../src/upstream/call.ts";
import { configureProvider } from "../../src/upstream/configure.ts";
import { createCredential } from "../../src/upstream/credentials/index.ts";
import { readAnswer } from "../../src/upstream/read-answer.ts";

const [ROUNDS, WARM, CALLS, SIGNATURES] = [40, 6, 200, 2000];
const BODY_CHARS = 2_000;

const tokens = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => Response.json({ access_token: "t".repeat(1000), expires_in: 3600 }),
});
const upstream = Bun.spawn(["bun", join(import.meta.dir, "speed", "upstream.ts")], { stdout: "pipe" });
const port = Number(new TextDecoder().decode((await upstream.stdout.getReader().read()).value));
const folder = mkdtempSync(join(tmpdir(), "bench-credentials-"));
writeFileSync(
  join(folder, "c.json"),
  JSON.stringify({
    providers: Object.fromEntries(
      Object.entries({
        key: { api_key: "k".repeat(40) },
        google: { credentials: { kind: "google", metadata: true, metadata_url: tokens.url.origin } },
        entra: {
          credentials: { kind: "entra", tenant: "t", client_id: "c", client_secret: "s", token_url: tokens.url.href },
        },
        aws: {
          region: "us-east-1",
          credentials: { kind: "aws", access_key_id: "AKIDEXAMPLE", secret_access_key: "s", session_token: "t" },
        },
      }).map(([name, entry]) => [name, { base_url: `http://127.0.0.1:${port}/v1`, ...entry }]),
    ),
  }),
);
const loaded = loadConfig({ env: {}, cwd: folder, file: "c.json", names: KNOWN_NAMES });
if (!loaded.ok) throw new Error(loaded.problems.join("\n"));

const text = JSON.stringify({ model: "m", messages: [{ role: "user", content: "x".repeat(BODY_CHARS) }] });
const headers = { "content-type": "application/json", accept: "application/json" };
const outgoing = {
  method: "POST",
  url: "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/invoke",
  headers,
  body: text,
};

const kinds = await Promise.all(
  loaded.config.providers
    .filter(({ name }) => name !== "demo")
    .map(async (config) => {
      const provider = configureProvider(config);
      if (provider === undefined) throw new Error("It has no chats.");
      const { credentials } = config;
      const own =
        credentials === undefined || credentials.kind === "key" ? undefined : await createCredential(credentials);
      const secret = config.apiKeys[0] ?? "";
      return {
        name: config.name,
        async call() {
          const signal = new Stop();
          const request = { path: "/chat/completions", headers: {}, body: text, dropped: [] };
          await readAnswer(provider, await callProvider(provider, request, { signal, secret }), signal);
        },
        own: async () => void (await own?.headers(outgoing)),
      };
    }),
);

/** Microseconds of processor time for each of a number of runs. */
async function cost(count: number, run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  for (let at = 0; at < count; at++) await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

const more = new Map(kinds.map(({ name }) => [name, { own: [] as number[], call: [] as number[] }]));
for (let round = 0; round < ROUNDS + WARM; round++) {
  const key = kinds.find(({ name }) => name === "key");
  // Each kind is next to a run with a key, so that a change of the machine's speed meets both.
  for (const kind of kinds) {
    const base = await cost(CALLS, key?.call ?? kind.call);
    const call = await cost(CALLS, kind.call);
    const own = await cost(SIGNATURES, kind.own);
    if (round < WARM) continue;
    more.get(kind.name)?.call.push(call - base);
    more.get(kind.name)?.own.push(own);
  }
}
for (const [name, { own, call }] of more) {
  console.log(
    `${name.padEnd(8)} own ${median(own).toFixed(1)} µs, call ${median(call).toFixed(1)} µs more than with a key`,
  );
}
upstream.kill();
await tokens.stop(true);
rmSync(folder, { recursive: true, force: true });
