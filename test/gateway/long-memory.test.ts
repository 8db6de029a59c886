// Long bodies that arrive at once are in memory once each, and what a request leaves behind is freed. The program is a process of its
// own: in this one, other tests have left a heap in which garbage is collected late, and slowly.

import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { makeHome, startGateway } from "../../scripts/soak/gateway.ts";
import { chatAnswer, startUpstream } from "../support/upstream.ts";

const MIB = 1024 * 1024;
const BODIES = 24;
const BODY_BYTES = 8 * MIB;
/** A third of the bodies may be in memory at once. With a text of each and copies for the provider, they took more than 400 MiB. */
const GROWTH_MAX = 280 * MIB;
/** Only Linux tells the peak of another process that still runs. */
const HAS_PEAK = process.platform === "linux";

let received = 0;
const upstream = startUpstream(({ text }) => {
  received += text.length;
  upstream.received.length = 0;
  return chatAnswer({ role: "assistant", content: "Done." });
});
const home = await makeHome({
  providers: { up: { kind: "openai", base_url: upstream.baseUrl, discover: false } },
  models: [{ id: "m", context_length: 100_000_000, routes: [{ provider: "up", model: "theirs" }] }],
});
const gateway = await startGateway(home);
afterAll(async () => {
  gateway.signal("SIGKILL");
  await gateway.exited;
  await upstream.stop();
  home.remove();
});

/** The most memory that the gateway has had. */
function peak(): number {
  const kilobytes = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) * 1024;
}

async function ask(bytes: number): Promise<number> {
  const message = { role: "user", content: 'a line of "code"\n'.repeat(200) };
  const messages = Array(Math.ceil(bytes / JSON.stringify(message).length)).fill(message);
  const headers = { authorization: `Bearer ${home.key}`, "content-type": "application/json" };
  const body = JSON.stringify({ model: "m", messages });
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", headers, body });
  await answer.text();
  return answer.status;
}

test.skipIf(!HAS_PEAK)(
  "24 bodies of 8 MiB at once take less than 280 MiB",
  async () => {
    expect(await ask(MIB)).toBe(200);
    const before = peak();
    received = 0;
    const answers = await Promise.all(Array.from({ length: BODIES }, () => ask(BODY_BYTES)));
    expect(answers).toEqual(Array(BODIES).fill(200));
    expect(received).toBeGreaterThan(BODIES * BODY_BYTES);
    expect(peak() - before).toBeLessThan(GROWTH_MAX);
  },
  120_000,
);
