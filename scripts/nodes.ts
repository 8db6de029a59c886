// Checks that several nodes work correctly together: three processes of the built program share a PostgreSQL and a
// Redis server, under load, while nodes and engines fail. Usage:
// bun scripts/nodes.ts [--binary FILE] [--short] [--phase SECONDS] [--without PART]
//   --short    takes about a minute
//   --phase    how long the load continues under each fault; 75 seconds, so that a window of the rate limits passes
//   --without  own-redis, no-redis or no-postgres: nodes that share less, with which the trial must fail
// The last line is `N passed, N failed`.

import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { page, startFakeSite } from "../test/support/fake-site.ts";
import { HAS_POSTGRES } from "../test/support/postgres.ts";
import { HAS_REDIS } from "../test/support/redis.ts";
import { told, wrongAnswers } from "./nodes/client.ts";
import { type Cluster, type Sabotage, startCluster } from "./nodes/cluster.ts";
import { Journal } from "./nodes/journal.ts";
import { readBooks } from "./nodes/ledger-check.ts";
import { sharedLimits } from "./nodes/limits.ts";
import { startLoad } from "./nodes/load.ts";
import { calm, cutRedis, killNode, leaveNode, restartPostgres, restartRedis, silencePostgres } from "./nodes/phases.ts";
import type { Trial } from "./nodes/trial.ts";
import { startTrialUpstream } from "./nodes/upstream.ts";

const { values } = parseArgs({
  options: {
    binary: { type: "string" },
    short: { type: "boolean" },
    phase: { type: "string", default: "75" },
    without: { type: "string" },
  },
});
const SHORT_PHASE_MS = 4000;
const PAGES = 25;
const PROBLEMS_TOLD_MAX = 5;
const phaseMs = values.short === true ? SHORT_PHASE_MS : Number(values.phase) * 1000;

let passed = 0;
let failed = 0;

/** Counts and prints a check. */
function check(name: string, problems: readonly string[], figures = ""): void {
  if (problems.length === 0) passed += 1;
  else failed += 1;
  console.log(`${problems.length === 0 ? "ok    " : "FAILED"} ${name}${figures === "" ? "" : `: ${figures}`}`);
  for (const problem of problems.slice(0, PROBLEMS_TOLD_MAX)) console.log(`       ${problem}`);
  if (problems.length > PROBLEMS_TOLD_MAX) console.log(`       and ${problems.length - PROBLEMS_TOLD_MAX} more`);
}

if (!HAS_POSTGRES || !HAS_REDIS) {
  console.log("PostgreSQL and redis-server are needed.");
  console.log("0 passed, 1 failed");
  process.exit(1);
}
const began = performance.now();
const upstream = startTrialUpstream();
const sitePages = ["/", ...Array.from({ length: PAGES - 1 }, (_, number) => `/page-${number}`)];
const site = startFakeSite(
  Object.fromEntries(
    sitePages.map((path, at) => [
      path,
      page(
        `Page ${at}`,
        [sitePages[at * 2 + 1], sitePages[at * 2 + 2]].filter((link) => link !== undefined),
      ),
    ]),
  ),
);
const cluster = await startCluster({
  binary: resolve(values.binary ?? join(import.meta.dir, "../dist/sallyport")),
  names: ["a", "b", "c"],
  config: configuration(),
  sabotage: values.without as Sabotage | undefined,
});
try {
  await run(cluster);
} catch (error) {
  check("the trial runs to its end", [error instanceof Error ? (error.stack ?? error.message) : String(error)]);
} finally {
  await cluster.stop();
  await Promise.all([upstream.stop(), site.stop()]);
}
console.log(`${((performance.now() - began) / 1000).toFixed(0)} s`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

function configuration(): Record<string, unknown> {
  const route = { provider: "up", model: "m" };
  return {
    server: { drain_delay: "1s", drain_timeout: "20s" },
    tiers: { premium: { rpm: 1_000_000_000 } },
    providers: {
      up: { kind: "openai", base_url: upstream.baseUrl, discover: false },
      judges: { kind: "systemone", base_url: upstream.baseUrl },
    },
    models: [{ id: "chat", routes: [route], prices: { input: 1, output: 2 } }],
    decisions: {
      models: [{ id: "judge", backend: { kind: "systemone", routes: [{ provider: "judges", model: "jev-1" }] } }],
    },
    web: { allow_hosts: [site.host], render: "never", respect_robots: false },
  };
}

/** The whole trial. */
async function run({ nodes, ...engines }: Cluster): Promise<void> {
  const [a, b, c] = nodes as [Cluster["nodes"][0], Cluster["nodes"][0], Cluster["nodes"][0]];
  const email = "trial@example.com";
  await a.start();
  const account = ["--email", email, "--username", "trial", "--tier", "premium", "--verified"];
  const { password } = await a.command("account", "create", ...account);
  const create = (what: string, name: string, ...flags: string[]) =>
    a.command(what, "create", "--account", email, "--name", name, ...flags);
  const newKey: Trial["newKey"] = async (name, rpm, ...flags) => {
    const made = await create("key", name, "--rpm", String(rpm), ...flags);
    return { name, id: String(made["id"]), text: String(made["key"]) };
  };
  const newProject: Trial["newProject"] = async (name, ...flags) =>
    String((await create("project", name, ...flags))["id"]);
  await Promise.all([b.start(), c.start()]);
  const key = await newKey("load", 1_000_000_000);
  const journal = new Journal();
  const trial: Trial = { cluster: { nodes, ...engines }, journal, upstream, key, newKey, newProject, phaseMs, check };
  const load = startLoad({ nodes, journal, key, site, sitePages, person: { email, password: String(password) } });
  const killed = Bun.sleep(phaseMs).then(() => undefined);
  await calm(trial);
  await sharedLimits(trial);
  await killed;
  await killNode(trial, c);
  await cutRedis(trial, b);
  await restartRedis(trial);
  await restartPostgres(trial);
  await silencePostgres(trial, a);
  await leaveNode(trial, b);
  await Bun.sleep(phaseMs / 2);
  await load.stop();

  check(
    "every crawl has every page of its site once",
    load.problems.filter((one) => one.includes("crawl")),
    `${load.counts.crawls} crawls`,
  );
  check(
    "who signs in on one node is known on the others",
    load.problems.filter((one) => !one.includes("crawl")),
    `${load.counts.signIns} times`,
  );
  check(
    "every answer is whole and belongs to its question",
    wrongAnswers(journal),
    `${journal.entries.length} requests`,
  );
  const limited = (name: string) => /^(?:calm|cut|emptied|limits)/.test(name);
  check("a fault explains every failure", journal.unexplained(limited).map(told), journal.summary());
  const memory = nodes.map((node) => node.rssMegabytes().toFixed(0)).join(", ");
  const codes = await Promise.all(nodes.map((node) => node.leave()));
  check("every node exits 0", codes.every((code) => code === 0) ? [] : [codes.join(", ")], `${memory} MB before`);
  const { problems, lost, most, rows } = await readBooks(engines.database.url, journal, nodes);
  check(
    "the books hold every answer once, with its cost",
    problems,
    `${rows} rows; a killed node had not written ${lost} answers, at most ${most}`,
  );
  check(
    "no node has logged an error that nobody expected",
    nodes.flatMap((node) => node.alarms()).map((line) => line.slice(0, 400)),
  );
}
