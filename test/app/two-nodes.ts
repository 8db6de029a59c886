// Two nodes of one installation in the test's own process, on a private PostgreSQL and a private Redis.

import { join } from "node:path";
import { hashPassword } from "../../src/accounts/passwords/passwords.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { accountStore, type NewAccount } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { HAS_POSTGRES, testPostgres } from "../support/postgres.ts";
import { HAS_REDIS, startRedis, type TestRedis } from "../support/redis.ts";
import { FakeTerminal } from "../support/terminal.ts";

/** Whether both engines are installed here. */
export const HAS_ENGINES = HAS_POSTGRES && HAS_REDIS;

/** The password of every account that was added. */
export const PASSWORD = "correct horse battery staple";

export interface TwoNodes {
  readonly nodes: readonly [TestApp, TestApp];
  readonly redis: TestRedis;
  /** Resolves when both nodes keep limits in this mode, as their metrics say. */
  inMode(mode: "shared" | "local" | "closed"): Promise<void>;
  addAccount(name: string, more?: Partial<NewAccount>): Promise<string>;
  /** A key of the account, or of the first node's own. */
  addKey(rpm: number, accountId?: string): Promise<{ id: string; key: string }>;
  /** Runs a command on the installation, from neither node. */
  command(...argv: string[]): Promise<{ code: number; out: string; err: string }>;
  stop(): Promise<void>;
}

/** Starts them. Stop them in afterAll. */
export async function startTwoNodes(more: Record<string, unknown> = {}): Promise<TwoNodes> {
  const server = await testPostgres();
  const [database, redis] = await Promise.all([server.database(), startRedis()]);
  const base = (more["redis"] ?? {}) as Record<string, unknown>;
  const config = {
    usage: { flush: "1ms" },
    ...more,
    database: { url: database.url },
    redis: { url: redis.url, ...base },
  };
  const start = (name: string) => startTestApp({ name, config: { ...config, node: { name } } });
  const nodes = [await start("first"), await start("second")] as const;
  // The first counts the second at its next heartbeat.
  for (const node of nodes) while ((await activeNodes(node)) !== nodes.length) await Bun.sleep(50);
  const inStore = async <T>(work: (store: Awaited<ReturnType<typeof openDatabase>>) => Promise<T>): Promise<T> => {
    const store = await openDatabase({ dataDir: nodes[0].dataDir, database: { url: database.url } });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  return {
    nodes,
    redis,
    async inMode(mode) {
      const said = `sallyport_limiter_mode{mode="${mode}"} 1`;
      for (const node of nodes)
        while (!(await (await node.call("/metrics")).text()).includes(said)) await Bun.sleep(10);
    },
    addAccount: (name, fields = {}) =>
      inStore(async (store) => {
        const account = await accountStore(store).createAccount({
          username: name,
          email: `${name}@example.com`,
          tier: "premium",
          emailVerified: true,
          passwordHash: await hashPassword(PASSWORD),
          ...fields,
        });
        if ("refused" in account) throw new Error(account.refused);
        return account.id;
      }),
    addKey: (rpm, accountId = nodes[0].accountId) =>
      inStore((store) => keyStore(store).createKey({ accountId, name: "shared", rpm })),
    async command(...argv) {
      const io = new FakeTerminal();
      const file = join(nodes[0].dataDir, "test.yaml");
      const surroundings = { cwd: nodes[0].dataDir, env: {} };
      const code = await runCommandLine([...argv, "--config", file], { version: "0", io, surroundings });
      return { code, out: io.stdout, err: io.stderr };
    },
    async stop() {
      for (const node of nodes) await node.stop();
      await redis.stop();
      await database.drop();
    },
  };
}

async function activeNodes(node: TestApp): Promise<number> {
  const answer = await node.call("/v1/status/runtime");
  return ((await answer.json()) as { active_nodes: number }).active_nodes;
}
