// The queue of alerts, over real stores.

import { expect, test } from "bun:test";
import { type Alert, createAlerts } from "../../src/jobs/alerts.ts";
import { alertStore, type ClaimedAlert } from "../../src/store/work/alerts.ts";
import { freshStore } from "../store/support.ts";

const alert = (subject: string, more: Partial<Alert> = {}): Alert => ({
  type: "provider_down",
  subject,
  accountId: null,
  details: { since: "now" },
  untilMs: null,
  ...more,
});

type Sending = (alert: ClaimedAlert, signal: AbortSignal) => Promise<void>;

/** A node over a store. `lines` are what it logged; `logged` resolves with the next line. */
function node({ store, clock }: ReturnType<typeof freshStore>, send: Sending) {
  const lines: Record<string, unknown>[] = [];
  let next = Promise.withResolvers<void>();
  const write = (message: string, fields: object) => {
    lines.push({ message, ...fields });
    next.resolve();
    next = Promise.withResolvers();
  };
  const alerts = createAlerts({
    store: alertStore(store),
    clock,
    targets: () => ["webhook"],
    send,
    isHopeless: (error) => (error as Error).message === "hopeless",
    log: { warn: write, error: write },
  });
  return {
    ...{ alerts, lines },
    async logged(count: number) {
      while (lines.length < count) await next.promise;
      return lines;
    },
  };
}

/** A sender that takes every alert. */
function taker() {
  const taken: string[] = [];
  let next = Promise.withResolvers<void>();
  return {
    taken,
    send: async ({ event }: ClaimedAlert) => {
      taken.push(event);
      next.resolve();
      next = Promise.withResolvers();
    },
    async sent(count: number) {
      while (taken.length < count) await next.promise;
    },
  };
}

test("an event that several nodes raise is sent once", async () => {
  const world = freshStore();
  const { send, sent, taken } = taker();
  const nodes = [node(world, send), node(world, send), node(world, send)];
  for (const { alerts } of nodes) alerts.start();
  for (const { alerts } of nodes) for (const subject of ["a", "b"]) alerts.raise(alert(subject));
  await sent(2);
  for (const { alerts } of nodes) await alerts.stop();
  expect(taken.sort()).toEqual(["provider_down:a:", "provider_down:b:"]);
});

test("an event is raised again when its window has ended", async () => {
  const world = freshStore();
  const { send, sent, taken } = taker();
  const { alerts } = node(world, send);
  alerts.start();
  const untilMs = world.clock.now() + 1000;
  alerts.raise(alert("a", { untilMs }));
  await sent(1);
  alerts.raise(alert("a", { untilMs }));
  world.clock.advance(1000);
  alerts.raise(alert("a"));
  await sent(2);
  await alerts.stop();
  expect(taken).toHaveLength(2);
});

test("sending is repeated after 1 s, then twice as long up to 10 min, for a day", async () => {
  const world = freshStore();
  const { alerts, logged, lines } = node(world, () => Promise.reject(new Error("refused")));
  alerts.start();
  alerts.raise(alert("a"));
  let dayMs = 0;
  for (let count = 1; ; count++) {
    await logged(count);
    const waitMs = lines[count - 1]?.["wait_ms"];
    if (waitMs === undefined) break;
    dayMs += waitMs as number;
    // Once its outcome is stored, the alert is due at its time.
    while ((await alertStore(world.store).nextAlertAt()) !== world.clock.now() + (waitMs as number)) await Bun.sleep(0);
    world.clock.advance(waitMs as number);
    alerts.start();
  }
  const waits = lines.flatMap(({ wait_ms: ms }) => (typeof ms === "number" ? [ms / 1000] : []));
  expect(waits.slice(0, 12)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]);
  expect(dayMs).toBeWithin(86_400_000 - 600_000, 86_400_000);
  expect(lines.at(-1)).toMatchObject({ message: "an alert could not be sent and was given up", to: "webhook" });
  await alerts.stop();
});

test("what can never be sent is given up at once", async () => {
  const world = freshStore();
  const { alerts, logged } = node(world, () => Promise.reject(new Error("hopeless")));
  alerts.start();
  alerts.raise(alert("a"));
  expect(await logged(1)).toMatchObject([{ message: "an alert could not be sent and was given up" }]);
  await alerts.stop();
});

test("a slow receiver does not delay the others, and what was being sent at the end is sent by the next one", async () => {
  const world = freshStore();
  const begun = Promise.withResolvers<void>();
  const { send, sent, taken } = taker();
  const first = node(world, async (one, signal) => {
    if (one.event !== "provider_down:slow:") return send(one);
    begun.resolve();
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  });
  first.alerts.start();
  first.alerts.raise(alert("slow"));
  await begun.promise;
  first.alerts.raise(alert("a"));
  await sent(1);
  await first.alerts.stop();
  expect(first.lines).toEqual([]);
  const second = node(world, send);
  second.alerts.start();
  await sent(2);
  await second.alerts.stop();
  expect(taken).toEqual(["provider_down:a:", "provider_down:slow:"]);
});
