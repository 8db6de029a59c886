// SIGTERM while streams are open: all of them finish, new requests are refused, and the program exits with 0.

import { ask, judge } from "./client.ts";
import { makeHome, readBooks, startGateway } from "./gateway.ts";
import { seeded } from "./random.ts";
import { Report } from "./report.ts";
import { startSoakUpstream } from "./upstream.ts";

const STREAMS = 100;
const WORDS = 60;
const PACE_MS = 40;

export async function drain(options: { binary?: string | undefined }): Promise<string[]> {
  const report = new Report();
  const up = startSoakUpstream({ protocol: "openai", odds: {}, random: seeded(1), words: WORDS, paceMs: PACE_MS });
  const home = await makeHome({
    providers: { one: { kind: "openai", base_url: up.baseUrl, discover: false } },
    models: [{ id: "solo", routes: [{ provider: "one", model: "m" }] }],
  });
  const gateway = await startGateway(home, options.binary);
  const target = { url: gateway.url, key: home.key };
  const answers = Array.from({ length: STREAMS }, () =>
    ask(target, { path: "/v1/chat/completions", model: "solo", prompt: "go on", stream: true }),
  );
  const deadlineMs = performance.now() + 10_000;
  while (up.open() < STREAMS && performance.now() < deadlineMs) await Bun.sleep(10);
  report.equal("streams under way at the signal", up.open(), STREAMS);
  const signalledMs = performance.now();
  gateway.signal("SIGTERM");
  await Bun.sleep(200);
  const late = await fetch(`${gateway.url}/livez`).then(
    ({ status }) => String(status),
    () => "refused",
  );
  report.equal("a new connection", late, "refused");
  const outcomes = await Promise.all(answers);
  report.equal("exit code", await gateway.exited, 0);
  const whole = outcomes.filter((outcome) => {
    const why = judge(outcome, (id) => up.told.get(id));
    if (why !== undefined) report.fail(why);
    return outcome.kind === "whole";
  });
  report.equal("streams that finished", whole.length, STREAMS);
  const { totals, problems } = await readBooks(home);
  report.equal("integrity problems", problems.join(), "");
  report.equal("output tokens", totals.outputTokens, up.charged.output);
  report.equal("requests in the books", totals.requests, STREAMS);
  report.say(
    `${whole.length} of ${STREAMS} finished, gone ${Math.round(performance.now() - signalledMs)} ms after the signal`,
  );
  await up.stop();
  home.remove();
  return report.problems;
}
