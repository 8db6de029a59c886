// kill -9 under load, several times with the same data.

import { ask, judge } from "./client.ts";
import { makeHome, readBooks, startGateway } from "./gateway.ts";
import { seeded, words } from "./random.ts";
import { Report } from "./report.ts";
import { startSoakUpstream } from "./upstream.ts";

const ROUNDS = 3;
const ROUND_MS = 4000;
const CLIENTS = 20;
/** How much usage a killed process may lose. */
const LOSS_MS_MAX = 1000;

export async function kill(options: { seed: number; binary?: string | undefined }): Promise<string[]> {
  const report = new Report();
  const random = seeded(options.seed);
  const up = startSoakUpstream({ protocol: "openai", odds: {}, random });
  const home = await makeHome({
    providers: { one: { kind: "openai", base_url: up.baseUrl, discover: false } },
    models: [{ id: "solo", routes: [{ provider: "one", model: "m" }] }],
  });
  /** The tokens of answers that clients received completely, with their times. */
  const had: { atMs: number; tokens: number }[] = [];
  let mayLack = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const gateway = await startGateway(home, options.binary);
    let killedMs: number | undefined;
    const client = async () => {
      while (killedMs === undefined) {
        const stream = random() < 0.5;
        const one = { path: "/v1/chat/completions", model: "solo", prompt: words(5, random).join(""), stream } as const;
        const outcome = await ask({ url: gateway.url, key: home.key }, one);
        if (outcome.kind === "whole" && outcome.usage !== undefined) {
          had.push({ atMs: performance.now(), tokens: outcome.usage.input + outcome.usage.output });
        }
        const why = judge(outcome, (id) => up.told.get(id));
        // After the program was killed, a broken connection is correct.
        if (why !== undefined && killedMs === undefined) report.fail(why);
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    await Bun.sleep(ROUND_MS);
    killedMs = performance.now();
    gateway.signal("SIGKILL");
    await gateway.exited;
    await Promise.all(clients);
    const { problems, totals } = await readBooks(home);
    report.equal(`round ${round + 1}: integrity problems`, problems.join(), "");
    const tokens = totals.inputTokens + totals.outputTokens;
    const all = had.reduce((sum, one) => sum + one.tokens, 0);
    const lately = had.filter(({ atMs }) => atMs >= killedMs - LOSS_MS_MAX).reduce((sum, one) => sum + one.tokens, 0);
    // Usage lost in an earlier round stays lost.
    mayLack += lately;
    const charged = up.charged.input + up.charged.output;
    report.say(
      `round ${round + 1}: ${all} tokens had, ${tokens} in the books, ${charged} charged; ${lately} came in the last second`,
    );
    if (tokens > charged) report.fail(`round ${round + 1}: ${tokens} tokens in the books, only ${charged} charged`);
    if (tokens < all - mayLack) report.fail(`round ${round + 1}: ${all - tokens} tokens lost, ${mayLack} may be`);
  }
  await up.stop();
  home.remove();
  return report.problems;
}
