// Mixed load while providers fail at random.

import { countTokens } from "../../src/tokens/count.ts";
import { ask, judge, type Outcome, type Path } from "./client.ts";
import { makeHome, readBooks, startGateway } from "./gateway.ts";
import { seeded, words } from "./random.ts";
import { Report } from "./report.ts";
import { HANG, LEAVE, type Odds, REFUSE, type SoakUpstream, startSoakUpstream } from "./upstream.ts";

const CLIENTS = 40;
/** A refused client waits a little. Otherwise most requests would only meet open breakers. */
const REFUSED_PAUSE_MS = 50;
/** How long the gateway waits for the first byte of an answer and for each further one. */
const LIMIT_MS = 1000;
const PATHS: readonly Path[] = ["/v1/chat/completions", "/v1/messages", "/v1/responses"];

const ODDS: Odds = {
  status: 0.06,
  limited: 0.04,
  garbage: 0.02,
  empty: 0.02,
  "cut-early": 0.03,
  "cut-late": 0.04,
  "error-late": 0.03,
  stall: 0.005,
};

export async function load(options: { minutes: number; seed: number; binary?: string | undefined }): Promise<string[]> {
  const report = new Report();
  report.say(`seed ${options.seed}, ${options.minutes} min, ${CLIENTS} clients`);
  const random = seeded(options.seed);
  const ups = (["openai", "openai", "anthropic"] as const).map((protocol) =>
    startSoakUpstream({ protocol, odds: ODDS, random }),
  );
  const home = await makeHome(configOf(ups));
  const gateway = await startGateway(home, options.binary);
  const rssBefore = gateway.rssMegabytes();
  const tally = new Map<string, number>();
  const estimated = { input: 0, output: 0 };
  let requests = 0;
  let limits = 0;

  const told = (id: string) => ups.map((up) => up.told.get(id)).find((one) => one !== undefined);
  const endMs = performance.now() + options.minutes * 60_000;
  const client = async () => {
    while (performance.now() < endMs) {
      requests++;
      const draw = random();
      const stream = random() < 0.6;
      const wish = draw < 0.02 ? REFUSE : draw < 0.05 && stream ? HANG : "";
      const prompt = `${wish} ${words(1 + Math.floor(random() * 20), random)
        .join("")
        .trim()}`.trim();
      const one = {
        path: PATHS[Math.floor(random() * PATHS.length)]!,
        model: ["solo", "duo", "trio"][Math.floor(random() * 3)]!,
        prompt,
        stream,
        ...(wish === HANG ? { leaveAt: LEAVE } : {}),
      };
      const startMs = performance.now();
      const outcome = await ask({ url: gateway.url, key: home.key }, one);
      limits += Math.floor((performance.now() - startMs) / LIMIT_MS);
      const why = judge(outcome, told) ?? mismatch(outcome, wish);
      if (why !== undefined) report.fail(`${one.path} ${one.model} ${one.stream ? "stream" : "whole"}: ${why}`);
      const label = "code" in outcome ? `${outcome.kind} ${outcome.code}` : outcome.kind;
      tally.set(label, (tally.get(label) ?? 0) + 1);
      if (outcome.kind === "refused") await Bun.sleep(REFUSED_PAUSE_MS);
      // Tokens that no provider reported were counted by the gateway. The trial counts them separately.
      if (outcome.kind === "left" || (outcome.kind === "broken" && outcome.text !== "")) {
        estimated.input += told(outcome.text.slice(0, 36))?.inputTold ?? countTokens(prompt);
        estimated.output += countTokens(outcome.text);
      }
      if ("text" in outcome) for (const up of ups) up.told.delete(outcome.text.slice(0, 36));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));

  const rssAfter = gateway.rssMegabytes();
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  report.equal("open streams afterwards", /^sallyport_open_streams (\d+)/m.exec(metrics)?.[1], "0");
  gateway.signal("SIGTERM");
  report.equal("exit code", await gateway.exited, 0);
  const books = await readBooks(home);
  report.equal("integrity problems", books.problems.join(), "");
  const charged = sum(ups);
  report.say(`${requests} requests, ${Math.round(requests / options.minutes / 60)}/s`);
  report.say(
    [...tally]
      .sort((a, b) => b[1] - a[1])
      .map(([name, count]) => `${name}: ${count}`)
      .join(", "),
  );
  report.say(`providers: ${deedsOf(ups)}`);
  report.say(
    `charged ${charged.input} + ${charged.output}, estimated by the trial ${estimated.input} + ${estimated.output}`,
  );
  report.say(`books ${books.totals.inputTokens} + ${books.totals.outputTokens} over ${books.totals.requests} calls`);
  report.say(`memory ${rssBefore.toFixed(0)} -> ${rssAfter.toFixed(0)} MB`);
  compareBooks(report, books.totals, { ups, estimated, limits });
  if (gateway.complaints() !== "") report.fail(`the gateway complained: ${gateway.complaints().slice(0, 500)}`);
  await Promise.all(ups.map((up) => up.stop()));
  home.remove();
  return report.problems;
}

type Tokens = { input: number; output: number };

function mismatch(outcome: Outcome, wish: string): string | undefined {
  if (wish === HANG)
    return outcome.kind === "left" || outcome.kind === "refused"
      ? undefined
      : `an endless answer ended: ${outcome.kind}`;
  const refused = outcome.kind === "refused" && outcome.code === "invalid_request";
  const open = outcome.kind === "refused" && outcome.code === "provider_circuit_open";
  if (wish === REFUSE) return refused || open ? undefined : `a bad request was ${outcome.kind}`;
  return refused ? "a good request was refused" : undefined;
}

function configOf(ups: readonly SoakUpstream[]): Record<string, unknown> {
  const provider = (up: SoakUpstream, kind: string) => ({
    kind,
    base_url: up.baseUrl,
    discover: false,
    retry: { attempts: 2, base: "20ms", max: "200ms" },
    timeout: { connect: "2s", first_byte: `${LIMIT_MS}ms`, idle: `${LIMIT_MS}ms` },
    breaker: { failures: 200, window: "1s", cooldown: "500ms" },
  });
  const route = (name: string, priority: number) => ({ provider: name, model: "m", priority });
  return {
    providers: {
      one: provider(ups[0]!, "openai"),
      two: provider(ups[1]!, "openai"),
      three: provider(ups[2]!, "anthropic"),
    },
    models: [
      { id: "solo", routes: [route("one", 1)] },
      { id: "duo", routes: [route("one", 1), route("two", 1)] },
      { id: "trio", routes: [route("three", 1), route("one", 2), route("two", 2)] },
    ],
  };
}

function sum(ups: readonly SoakUpstream[]): Tokens {
  return {
    input: ups.reduce((all, { charged }) => all + charged.input, 0),
    output: ups.reduce((all, { charged }) => all + charged.output, 0),
  };
}

/** Compares the books with what the providers charged. `limits` is how many time limits of the gateway have passed. */
function compareBooks(
  report: Report,
  totals: { readonly inputTokens: number; readonly outputTokens: number },
  { ups, estimated, limits }: { ups: readonly SoakUpstream[]; estimated: Tokens; limits: number },
): void {
  const charged = sum(ups);
  const late = lateOf(ups);
  const stalls = ups.reduce((all, { deeds }) => all + (deeds.get("stall") ?? 0), 0);
  if (late.answers > 0) report.say(`${late.answers} answers (${late.input} + ${late.output}) came after a limit`);
  if (late.answers > Math.max(0, limits - stalls))
    report.fail(`${late.answers} charged answers reached no client, and only ${limits - stalls} limits had passed`);
  // The gateway cannot know what a provider charges for an answer that it no longer waits for.
  const upTo = { input: charged.input + estimated.input, output: charged.output + estimated.output };
  report.within("output tokens", totals.outputTokens, upTo.output - late.output, upTo.output);
  report.within("input tokens", totals.inputTokens, upTo.input - late.input, upTo.input);
}

/** The answers that a provider charged and no client got: those that came too late for the gateway on a busy machine. */
function lateOf(ups: readonly SoakUpstream[]): Tokens & { answers: number } {
  const late = { answers: 0, input: 0, output: 0 };
  for (const { told } of ups)
    for (const { charged } of told.values()) {
      if (charged === undefined) continue;
      late.answers++;
      late.input += charged.input;
      late.output += charged.output;
    }
  return late;
}

function deedsOf(ups: readonly SoakUpstream[]): string {
  const all = new Map<string, number>();
  for (const { deeds } of ups) for (const [deed, count] of deeds) all.set(deed, (all.get(deed) ?? 0) + count);
  return [...all].map(([deed, count]) => `${deed} ${count}`).join(", ");
}
