// Several processes of the built program with their own loopback addresses, and one PostgreSQL and one Redis server.
// Each node reaches each server through its own proxy.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestDatabase, type TestServer, testPostgres } from "../../test/support/postgres.ts";
import { startRedis, type TestRedis } from "../../test/support/redis.ts";
import { startTcpProxy, type TcpProxy } from "../../test/support/tcp-proxy.ts";

/** The parts that can be left out of the cluster, so that the trial must fail. */
export type Sabotage = "own-redis" | "no-redis" | "no-postgres";

export interface ClusterOptions {
  readonly binary: string;
  readonly names: readonly string[];
  /** The part of the configuration that is independent of the servers. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly sabotage?: Sabotage | undefined;
  /** All nodes on one address, straight to the engines: to be measured, not to fail. */
  readonly oneAddress?: boolean;
}

/** A node that was killed. */
export interface Kill {
  readonly atMs: number;
  /** The time when the node last reported how many records were waiting to be written, and their number. */
  readonly saidMs: number;
  readonly unwritten: number;
}

/** One node: a process that can be ended and started again. */
export interface TrialNode {
  readonly name: string;
  readonly url: string;
  readonly redis: TcpProxy;
  readonly postgres: TcpProxy;
  /** Whether a load balancer would send requests to it. */
  ready: boolean;
  readonly kills: Kill[];
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Sends SIGTERM; resolves with the exit code. */
  leave(): Promise<number>;
  command(...args: string[]): Promise<Record<string, unknown>>;
  rssMegabytes(): number;
  /** Processor time so far, of all threads. */
  cpuMs(): number;
  /** Lines of its log that no program may write. */
  alarms(): string[];
}

export interface Cluster {
  readonly nodes: readonly TrialNode[];
  readonly server: TestServer;
  readonly database: TestDatabase;
  readonly redis: TestRedis;
  stop(): Promise<void>;
}

const HOST = "127.0.0.1";
/** The kernel counts processor time in these. */
const TICK_MS = 10;
const START_MS_MAX = 30_000;
const ALARM = /unexpected error|unhandled rejection|uncaught exception|could not be written before the end/;

/** Starts the servers; the caller starts the nodes. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const home = mkdtempSync(join(tmpdir(), "sallyport-nodes-"));
  const server = await testPostgres();
  const [database, redis] = await Promise.all([server.database(), startRedis()]);
  const { oneAddress = false } = options;
  const sharedPort = freePort(HOST);
  const redisPort = Number(new URL(redis.url).port);
  const stops: (() => Promise<unknown>)[] = [() => redis.stop(), () => database.drop()];
  const nodes = await Promise.all(
    options.names.map(async (name, at) => {
      let port = redisPort;
      if (options.sabotage === "own-redis") {
        const own = await startRedis();
        stops.push(() => own.stop());
        port = Number(new URL(own.url).port);
      }
      const [toRedis, toPostgres] = await Promise.all([startTcpProxy(port), startTcpProxy(server.port)]);
      stops.push(
        () => toRedis.stop(),
        () => toPostgres.stop(),
      );
      const host = oneAddress ? HOST : `127.0.0.${11 + at}`;
      const engines = oneAddress
        ? { redis: port, postgres: server.port }
        : { redis: toRedis.port, postgres: toPostgres.port };
      const address = { host, port: oneAddress ? sharedPort : freePort(host), engines };
      const place = { name, ...address, dir: join(home, name), redis: toRedis, postgres: toPostgres };
      return makeNode(place, { ...options, databaseName: database.name });
    }),
  );
  return {
    ...{ nodes, server, database, redis },
    async stop() {
      for (const node of nodes) await node.kill();
      for (const stop of stops) await stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

interface Place {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** The ports at which this node reaches them. */
  readonly engines: { readonly redis: number; readonly postgres: number };
  readonly dir: string;
  readonly redis: TcpProxy;
  readonly postgres: TcpProxy;
}

function makeNode(place: Place, options: ClusterOptions & { readonly databaseName: string }): TrialNode {
  const { name, host, port, engines, dir, redis, postgres } = place;
  const { binary, config, sabotage, databaseName } = options;
  mkdirSync(dir, { recursive: true });
  const shared = {
    ...(sabotage === "no-postgres"
      ? {}
      : { database: { url: `postgres://test@127.0.0.1:${engines.postgres}/${databaseName}` }, node: { name } }),
    ...(sabotage === "no-redis" || sabotage === "no-postgres"
      ? {}
      : { redis: { url: `redis://127.0.0.1:${engines.redis}` } }),
  };
  const file = join(dir, "sallyport.yaml");
  writeFileSync(
    file,
    JSON.stringify({
      ...config,
      ...shared,
      server: { ...(config["server"] as object), host, port },
      log: { level: "warn", format: "json" },
    }),
  );
  const own = ["--config", file, "--data-dir", join(dir, "data")];
  const env = { HOME: dir, PATH: process.env["PATH"] ?? "" };
  const logs: string[] = [];
  let child: Bun.Subprocess<"ignore", "pipe", Bun.BunFile> | undefined;
  const logged = () => logs.map((path) => readFileSync(path, "utf8")).join("");
  const node: TrialNode = {
    ...{ name, redis, postgres },
    url: `http://${host}:${port}`,
    ready: false,
    kills: [],
    async start() {
      const logFile = join(dir, `log-${logs.push(join(dir, `log-${logs.length}`)) - 1}`);
      child = Bun.spawn([binary, "serve", ...own], {
        cwd: dir,
        env,
        stdin: "ignore",
        stdout: "pipe",
        stderr: Bun.file(logFile),
      });
      const said = await Promise.race([firstLine(child.stdout), Bun.sleep(START_MS_MAX).then(() => "")]);
      if (!said.includes("listening on")) {
        child.kill("SIGKILL");
        throw new Error(`node ${name} did not start: ${logged().slice(-1000)}`);
      }
    },
    async kill() {
      node.ready = false;
      if (child === undefined || child.exitCode !== null) return;
      child.kill("SIGKILL");
      await child.exited;
    },
    async leave() {
      child?.kill("SIGTERM");
      return (await child?.exited) ?? -1;
    },
    async command(...args) {
      const run = Bun.spawn([binary, ...args, "--json", ...own], { cwd: dir, env, stdin: "ignore", stderr: "pipe" });
      const [out, err, code] = await Promise.all([
        new Response(run.stdout).text(),
        new Response(run.stderr).text(),
        run.exited,
      ]);
      if (code !== 0) throw new Error(`${args.join(" ")}: exit ${code}: ${err}`);
      return out.trim() === "" ? {} : (JSON.parse(out) as Record<string, unknown>);
    },
    cpuMs() {
      const stat = readFileSync(`/proc/${child?.pid}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    },
    rssMegabytes: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child?.pid}/status`, "utf8"))?.[1]) / 1024,
    alarms: () =>
      logged()
        .split("\n")
        .filter((line) => ALARM.test(line)),
  };
  return node;
}

/** Text up to the first line break, or to the end. */
async function firstLine(stdout: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let said = "";
  for await (const text of stdout.pipeThrough(new TextDecoderStream())) {
    said += text;
    if (said.includes("\n")) break;
  }
  return said;
}

function freePort(hostname: string): number {
  const server = Bun.listen({ hostname, port: 0, socket: { data: () => undefined } });
  const { port } = server;
  server.stop(true);
  return port;
}
