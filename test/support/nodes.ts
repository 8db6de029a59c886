// Several nodes as processes of their own, over one private PostgreSQL and one private Redis: each can be killed.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { openPostgres, type PostgresStore } from "../../src/store/engine/postgres/open.ts";
import { HAS_POSTGRES, type TestDatabase, testPostgres } from "./postgres.ts";
import { HAS_REDIS, startRedis } from "./redis.ts";
import { programCommand } from "./source-program.ts";

/** Whether nodes can run here. */
export const HAS_NODES = HAS_POSTGRES && HAS_REDIS;

/** A node. */
export interface NodeProcess {
  readonly name: string;
  readonly url: string;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Stops and continues it, as a machine that sleeps. */
  stall(): void;
  resume(): void;
  /** What it has logged. */
  log(): Promise<string>;
  call(path: string, init?: { method?: string; body?: unknown; key?: string }): Promise<Response>;
  json<T = Record<string, unknown>>(path: string, init?: { method?: string; body?: unknown }): Promise<T>;
}

/** Nodes that share everything, and the test's own connection to what they share. */
export interface Cluster {
  readonly database: TestDatabase;
  readonly store: PostgresStore;
  readonly accountId: string;
  readonly key: string;
  start(name: string): Promise<NodeProcess>;
  /** Runs a command of the program with the nodes' configuration; gives what it prints. */
  command(...argv: string[]): Promise<string>;
  stop(): Promise<void>;
}

/** Makes an empty cluster with an account. `config`: what its nodes have in common. Stop it in afterAll. */
export async function startCluster(config: Record<string, unknown>): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-nodes-"));
  const server = await testPostgres();
  const [database, redis] = await Promise.all([server.database(), startRedis()]);
  const store = await openPostgres({ url: database.url, dataDir: folder, connections: 2 });
  const made = await accountStore(store).createAccount({
    ...{ username: "nodes", email: "nodes@example.com", tier: "premium", emailVerified: true },
  });
  if ("refused" in made) throw new Error(made.refused);
  const { key } = await keyStore(store).createKey({ accountId: made.id, name: "nodes" });
  const nodes: NodeProcess[] = [];
  const configFor = async (name: string): Promise<string[]> => {
    const file = join(folder, `${name}.yaml`);
    const shared = { database: { url: database.url }, redis: { url: redis.url } };
    await Bun.write(file, JSON.stringify({ ...config, ...shared, node: { name } }));
    return ["--config", file, "--data-dir", join(folder, name)];
  };
  const options = { cwd: folder, env: { HOME: folder, PATH: process.env["PATH"] ?? "" }, stdin: "ignore" } as const;
  return {
    database,
    store,
    accountId: made.id,
    key,
    async start(name) {
      const own = await configFor(name);
      const log = Bun.file(join(folder, `${name}.log`));
      const argv = [...programCommand(), "serve", "--port", "0", ...own];
      const child = Bun.spawn(argv, { ...options, stdout: "pipe", stderr: log });
      const { value } = await child.stdout.getReader().read();
      const url = /http:\S+/.exec(new TextDecoder().decode(value))?.[0];
      if (url === undefined) throw new Error(`${name} did not start: ${await log.text()}`);
      const call: NodeProcess["call"] = (path, { method = "GET", body, key: as = key } = {}) =>
        fetch(url + path, {
          method,
          headers: { authorization: `Bearer ${as}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
      const node: NodeProcess = {
        name,
        url,
        async kill() {
          child.kill("SIGKILL");
          await child.exited;
        },
        stall: () => child.kill("SIGSTOP"),
        resume: () => child.kill("SIGCONT"),
        log: () => log.text(),
        call,
        json: async (path, init) => (await call(path, init)).json() as Promise<never>,
      };
      nodes.push(node);
      return node;
    },
    async command(...argv) {
      const own = await configFor("operator");
      const child = Bun.spawn([...programCommand(), ...argv, ...own], { ...options, stderr: "pipe" });
      const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
      if ((await child.exited) !== 0) throw new Error(`${argv.join(" ")}: ${err}`);
      return out;
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.kill()));
      await store.close();
      await redis.stop();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
