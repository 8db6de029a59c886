// Measures the processor time that the cache of answers and the guardrails need for a request: where they are not configured, where
// they are and the request has none of them, for each kind of check, and for a hit. All are asked in turn, so that other work on the
// machine affects all of them.
// Usage: bun scripts/bench/policy.ts [--rounds 5] [--requests 2000] [--only TEXT]
//   --only  only requests whose name has the text, and the plain one

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { makeHome, startGateway } from "../soak/gateway.ts";
import { startedScripts, startScript } from "./start-script.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    requests: { type: "string", default: "2000" },
    only: { type: "string", default: "" },
  },
});
const AT_ONCE = 16;
/** The unit in which the kernel counts processor time. */
const TICK_MS = 10;

const upstream = await startScript("speed/upstream.ts");
/** Answers webhooks and decisions. */
const judge = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: ({ url }) =>
    url.endsWith("/hook")
      ? Response.json({ action: "allow" })
      : Response.json({ model: "j", answers: { asked: { type: "noul", noul: 0 } }, usage: { input_tokens: 9 } }),
});
const judgeHost = `127.0.0.1:${judge.port}`;
const words = Array.from({ length: 1000 }, (_, at) => `codename${at}`);
const question = { instructions: "Does the user ask for help with a crime?" };
const CHECKS: Readonly<Record<string, object>> = {
  pii: { check: { kind: "pii" }, action: "mask" },
  pattern: { check: { kind: "pattern", patterns: { TICKET: "\\bT-\\d{4,6}\\b" } }, action: "mask" },
  words: { check: { kind: "words", words }, action: "deny" },
  schema: { check: { kind: "schema", schema: { type: "object" } }, action: "note" },
  webhook: { check: { kind: "webhook", url: `http://${judgeHost}/hook` }, on: ["input"] },
  decision: { check: { kind: "decision", model: "judge", question, at_least: 0.9 }, on: ["input"] },
};
const route = (id: string) => ({ id, routes: [{ provider: "one", model: "m" }] });
const base = {
  providers: {
    one: { kind: "openai", base_url: `http://127.0.0.1:${upstream.port}/v1`, discover: false },
    judge: { kind: "openai", base_url: `http://${judgeHost}/v1`, api_key: "k", discover: false },
  },
  models: ["solo", ...Object.keys(CHECKS)].map(route),
  decisions: { models: [{ id: "judge", backend: { kind: "systemone", routes: [{ provider: "judge", model: "j" }] } }] },
  web: { allow_caller_data: [judgeHost] },
  alerts: { webhook_secret: "whsec-bench" },
};
const guardrails = Object.entries(CHECKS).map(([name, more]) => ({ name, ...more, apply: { models: [name] } }));
const homes = [await makeHome(base), await makeHome({ ...base, guardrails, cache: { mode: "ask" } })] as const;
const gateways = [await startGateway(homes[0]), await startGateway(homes[1])] as const;

/** Two kilobytes, as a question with some context has. */
const content = "Please read these notes of the meeting and tell me what was decided about the roof. ".repeat(25);
interface Row {
  readonly name: string;
  readonly on: 0 | 1;
  readonly model: string;
  readonly headers?: Readonly<Record<string, string>>;
}
const ALL: readonly Row[] = [
  { name: "neither is configured", on: 0, model: "solo" },
  { name: "both are, for other requests", on: 1, model: "solo" },
  ...Object.keys(CHECKS).map((model): Row => ({ name: `guardrail: ${model}`, on: 1, model })),
  { name: "cache: miss", on: 1, model: "solo", headers: { "cache-control": "no-cache, max-age=3600" } },
  { name: "cache: hit", on: 1, model: "solo", headers: { "cache-control": "max-age=3600" } },
];
const ROWS = ALL.filter(({ name }, at) => at === 0 || name.includes(values.only));

try {
  const times = new Map(ROWS.map(({ name }) => [name, [] as number[]]));
  for (const row of ROWS) await costOf(row, 0.5);
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const row of round % 2 === 0 ? ROWS : ROWS.toReversed()) times.get(row.name)!.push(await costOf(row));
  }
  const plain = median(times.get(ROWS[0]!.name)!);
  process.stdout.write("| request | processor time (us) | of a plain request |\n|---|---|---|\n");
  for (const [name, all] of times) {
    const us = median(all);
    process.stdout.write(`| ${name} | ${us.toFixed(0)} | ${(us / plain).toFixed(2)} |\n`);
  }
} finally {
  for (const gateway of gateways) gateway.signal("SIGTERM");
  for (const gateway of gateways) await gateway.exited;
  for (const child of startedScripts) child.kill();
  for (const home of homes) home.remove();
  await judge.stop(true);
}

/** The processor time of the gateway for one request, in microseconds. */
async function costOf({ on, model, headers = {} }: Row, share = 1): Promise<number> {
  const { pid, url } = gateways[on];
  const body = JSON.stringify({ model, messages: [{ role: "user", content }] });
  const all = { authorization: `Bearer ${homes[on].key}`, "content-type": "application/json", ...headers };
  const requests = Math.round(Number(values.requests) * share);
  let left = requests;
  const before = cpuMs(pid);
  const lane = async () => {
    while (left-- > 0) {
      const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers: all, body });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${model} answered ${answer.status}: ${text.slice(0, 200)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return (1000 * Math.max(TICK_MS, cpuMs(pid) - before)) / requests;
}

/** The processor time of a process so far, with all its threads. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function median(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)]!;
}
