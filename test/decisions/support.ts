// A gateway on loopback with the given configuration, and fake upstreams that it calls.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApp } from "../../src/app/start.ts";
import { systemClock } from "../../src/base/clock.ts";
import { LiveConfig } from "../../src/config/live.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { TierId } from "../../src/config/schema.ts";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { createLogger } from "../../src/telemetry/log.ts";
import { noteAnswer } from "../support/answers.ts";

export interface Gateway {
  url: string;
  dir: string;
  logs: string[];
  /** A new key of a new account on that plan. */
  key(tier?: TierId, rpm?: number): Promise<string>;
  post(path: string, body: unknown, key: string, headers?: Record<string, string>): Promise<Answer>;
  get(path: string, key?: string): Promise<Answer>;
  /** The usage rows, once there are at least this many and none is waiting to be written. */
  usage(atLeast?: number): Promise<Record<string, unknown>[]>;
  /** Reloads with another configuration file. */
  reload(config: Record<string, unknown>): Promise<void>;
  stop(): Promise<void>;
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: The tests look into any answer.
  body: any;
  headers: Headers;
}

/** Starts a gateway. `config` is the content of its configuration file as an object. */
export async function startGateway(config: Record<string, unknown>, dir = tempDir()): Promise<Gateway> {
  await Bun.write(join(dir, "sallyport.yaml"), fileOf(config));
  const load = () => loadConfig({ cwd: dir, env: {}, port: 0 });
  const loaded = load();
  if (!loaded.ok) throw new Error(loaded.problems.join("\n"));
  const logs: string[] = [];
  const log = createLogger({
    level: "debug",
    format: "json",
    // Lines that were written together arrive together.
    write: (text) => {
      const lines = text.split("\n").filter((line) => line !== "");
      for (const line of lines) noteAnswer(JSON.parse(line) as Record<string, unknown>);
      logs.push(...lines);
    },
    clock: systemClock,
    secrets: [],
  });
  const live = new LiveConfig(loaded, load);
  const app = await startApp(live, log);
  const store = openStore({ dataDir: loaded.config.dataDir });
  let accounts = 0;
  const read = async (response: Response): Promise<Answer> => ({
    status: response.status,
    body: await response.json(),
    headers: response.headers,
  });
  return {
    url: app.url,
    dir,
    logs,
    async key(tier: TierId = "free", rpm = 100_000) {
      accounts += 1;
      const name = `user${accounts}x${crypto.randomUUID().slice(0, 8)}`;
      const made = await accountStore(store).createAccount({
        email: `${name}@example.com`,
        username: name,
        passwordHash: null,
        emailVerified: true,
        admin: false,
        tier,
        trialEndsAtMs: null,
        subscriptionUntilMs: null,
      });
      if ("refused" in made) throw new Error("no account");
      return (await keyStore(store).createKey({ accountId: made.id, name: "test", rpm })).key;
    },
    post: async (path, body, key, headers = {}) =>
      read(
        await fetch(app.url + path, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
          body: typeof body === "string" ? body : JSON.stringify(body),
        }),
      ),
    get: async (path, key) =>
      read(await fetch(app.url + path, { headers: key === undefined ? {} : { authorization: `Bearer ${key}` } })),
    async usage(atLeast = 0) {
      for (;;) {
        await Bun.sleep(20);
        const health = await (await fetch(`${app.url}/health`)).json();
        const rows = store.sqlite.query("SELECT * FROM usage ORDER BY id").all() as Record<string, unknown>[];
        if (rows.length >= atLeast && health.subsystems.database.usage_queued === 0) return rows;
      }
    },
    async reload(changed) {
      await Bun.write(join(dir, "sallyport.yaml"), fileOf(changed));
      const taken = live.reload();
      if (!taken.ok) throw new Error(taken.problems.join("\n"));
      app.reconfigured();
    },
    async stop() {
      store.close();
      await app.stop(1000);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Probes are off, because one more call than expected would confuse a test. */
function fileOf(config: Record<string, unknown>): string {
  return JSON.stringify({ data_dir: "./data", usage: { flush: "1ms" }, health: { probe: "off" }, ...config });
}

export function tempDir(): string {
  return mkdtempSync(join(tmpdir(), "decisions-"));
}

export interface Fake {
  url: string;
  /** The path and the parsed body of every request. */
  // biome-ignore lint/suspicious/noExplicitAny: The tests look into any request.
  calls: { path: string; body: any; headers: Headers }[];
  /** The function that answers. Tests replace it. */
  // biome-ignore lint/suspicious/noExplicitAny: As above.
  answer: (body: any, path: string) => Response | Promise<Response>;
  stop(): void;
}

/** An upstream that answers as the test defines. */
export function startFake(answer: Fake["answer"]): Fake {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const path = new URL(request.url).pathname;
      const text = await request.text();
      const body: unknown = text === "" ? undefined : JSON.parse(text);
      fake.calls.push({ path, body, headers: request.headers });
      return fake.answer(body, path);
    },
  });
  const fake: Fake = {
    url: `http://127.0.0.1:${server.port}/v1`,
    calls: [],
    answer,
    stop: () => void server.stop(true),
  };
  return fake;
}

type Definition = { type: string; criteria?: unknown };

/** Answers every question of a native request with evenly rising values, rounded to two decimals as the real API does. */
export function nativeAnswers(body: { model: string; questions: Record<string, Definition> }): Response {
  const answers = Object.fromEntries(
    Object.entries(body.questions).map(([key, { type, criteria }]) => {
      if (type === "noul") return [key, { type, noul: 0.87 }];
      const names =
        type === "score" ? (criteria as unknown[]).map((_, at) => String(at)) : Object.keys(criteria as object);
      const total = (names.length * (names.length + 1)) / 2;
      const p = names.map((_, at) => Math.round(((at + 1) / total) * 100) / 100);
      const probabilities = Object.fromEntries(names.map((name, at) => [name, p[at]]));
      return [key, { type, probabilities, choice: names.at(-1), confidence: 0.5 }];
    }),
  );
  // A version that was named answers itself; other names stand for the newest.
  const model = /\d/.test(body.model) ? body.model : "jev-1.13.0";
  return Response.json({ model, answers, usage: { input_tokens: 321, output_tokens: 7 } });
}
