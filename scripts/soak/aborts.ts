// Streams whose clients disconnect: no provider continues to send, and memory stays constant.

import { ask } from "./client.ts";
import { makeHome, readBooks, startGateway } from "./gateway.ts";
import { seeded } from "./random.ts";
import { Report } from "./report.ts";
import { HANG, LEAVE, startSoakUpstream } from "./upstream.ts";

const STREAMS = 9000;
const AT_ONCE = 50;
/** The first streams fill caches and compile code, so growth is measured after them. */
const WARM_UP = 1500;
const GROWTH_MEGABYTES_MAX = 20;
/**
 * The runtime collects all its garbage the more rarely, the more memory the machine has: memory rises by 50 MB and falls again,
 * whether clients leave or stay. It is made to collect as on a machine with 64 MB. Then memory rises by 12 MB in 10,000 streams
 * and by 10 more in the next 20,000, and stays level up to 70,000; a forced collection finds the same objects after 600 streams
 * as after 8,000.
 */
const COLLECT_OFTEN = { BUN_JSC_forceRAMSize: String(64 * 1024 * 1024) };

export async function aborts(options: { binary?: string | undefined }): Promise<string[]> {
  const report = new Report();
  const up = startSoakUpstream({ protocol: "openai", odds: {}, random: seeded(1), words: 40 });
  const home = await makeHome({
    providers: { one: { kind: "openai", base_url: up.baseUrl, discover: false } },
    models: [{ id: "solo", routes: [{ provider: "one", model: "m" }] }],
  });
  const gateway = await startGateway(home, options.binary, COLLECT_OFTEN);
  const target = { url: gateway.url, key: home.key };
  const abort = async (count: number) => {
    for (let done = 0; done < count; done += AT_ONCE) {
      const some = Array.from({ length: AT_ONCE }, () =>
        ask(target, {
          path: "/v1/chat/completions",
          model: "solo",
          prompt: HANG,
          stream: true,
          leaveAt: LEAVE,
        }),
      );
      for (const { kind } of await Promise.all(some)) report.equal("how a stream ended", kind, "left");
    }
  };
  const idle = gateway.rssMegabytes();
  await abort(WARM_UP);
  const warm = gateway.rssMegabytes();
  await abort(STREAMS);
  const deadlineMs = performance.now() + 5000;
  while (up.open() > 0 && performance.now() < deadlineMs) await Bun.sleep(10);
  report.equal("providers left talking", up.open(), 0);
  const after = gateway.rssMegabytes();
  report.say(`memory ${idle.toFixed(0)} MB idle, ${warm.toFixed(0)} warm, ${after.toFixed(0)} after ${STREAMS} more`);
  if (after - warm > GROWTH_MEGABYTES_MAX) report.fail(`memory grew by ${(after - warm).toFixed(0)} MB`);
  gateway.signal("SIGTERM");
  report.equal("exit code", await gateway.exited, 0);
  const { totals } = await readBooks(home);
  report.equal("requests in the books", totals.requests, WARM_UP + STREAMS);
  await up.stop();
  home.remove();
  return report.problems;
}
