import { expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import type { GuardedFetch } from "../../src/net/fetch.ts";
import type { RenderRequest } from "../../src/pages/browser/render.ts";
import { createHostScheduler } from "../../src/pages/schedule/host-scheduler.ts";
import { inTurn, scheduledFetch, scheduledRenderer } from "../../src/pages/schedule/scheduled-fetch.ts";
import { createSlots } from "../../src/pages/slots.ts";
import { places } from "../support/places.ts";

const LIMITS = { bytesMax: 1000, timeoutMs: 1000 };
const claimOf = async (url: string) => ({ host: new URL(url).host, delayMs: 0 });
const never = new AbortController().signal;
const settle = async () => {
  for (let i = 0; i < 50; i++) await Promise.resolve();
};

/** Takes all places of a host. The returned function gives one back. */
async function fill(scheduler: ReturnType<typeof createHostScheduler>, host: string): Promise<() => void> {
  const [first] = await Promise.all([1, 2, 3, 4].map(() => scheduler.ask({ host, delayMs: 0 })));
  return first as () => void;
}

test("each host of a redirect chain waits for its turn, and the check of the next one comes before its turn", async () => {
  const scheduler = createHostScheduler(new FakeClock(), places(8));
  const order: string[] = [];
  const get: GuardedFetch = async (url, { onRedirect }) => {
    const chain = [url, "http://www.a.example/2", "http://b.example/3", "http://a.example/4"];
    for (const next of chain.slice(1)) {
      await onRedirect?.(next, never);
      order.push(next);
    }
    return { url, status: 200, headers: new Headers(), body: new Uint8Array(), chain };
  };
  const leaveB = await fill(scheduler, "b.example");
  const fetched = scheduledFetch(get, { scheduler, claimOf })("http://a.example/1", {
    ...LIMITS,
    onRedirect: async (url) => void order.push(`judged ${url}`),
  });
  await settle();
  expect(order).toEqual(["judged http://www.a.example/2", "http://www.a.example/2", "judged http://b.example/3"]);
  // The place of the first host is free while the second host is waited for.
  const leaveA = await fill(scheduler, "a.example");
  leaveB();
  await settle();
  expect(order.slice(3)).toEqual(["http://b.example/3", "judged http://a.example/4"]);
  leaveA();
  await fetched;
  expect(order.at(-1)).toBe("http://a.example/4");
  // All places were given back.
  leaveA();
  await scheduler.ask({ host: "a.example", delayMs: 0 });
  expect(scheduler.load().waiting).toBe(0);
});

test("a request that has ended waits for no turn, and keeps none", async () => {
  const scheduler = createHostScheduler(new FakeClock(), places(8));
  const leaveB = await fill(scheduler, "b.example");
  const failures: unknown[] = [];
  await inTurn({ scheduler, claimOf }, { url: "http://a.example/" }, async (follow) => {
    // It is sent to two addresses at the same time, as a page in a browser may be, and is then closed.
    for (const path of ["1", "2"])
      void follow(`http://b.example/${path}`, never, async () => undefined).catch((error) => failures.push(error));
    await settle();
    expect(scheduler.load().waiting).toBe(1);
  });
  await settle();
  expect([scheduler.load().waiting, failures.length]).toEqual([0, 2]);
  leaveB();
  await scheduler.ask({ host: "b.example", delayMs: 0 });
  await fill(scheduler, "a.example");
});

test("a failed check ends the request without a place", async () => {
  const scheduler = createHostScheduler(new FakeClock(), places(8));
  const work = inTurn({ scheduler, claimOf }, { url: "http://a.example/" }, (follow) =>
    follow("http://b.example/", never, () => Promise.reject(new Error("forbidden"))),
  );
  await expect(work).rejects.toThrow("forbidden");
  await fill(scheduler, "a.example");
  await fill(scheduler, "b.example");
});

test("a redirect in the browser does not wait for a host whose places wait for the browser", async () => {
  const scheduler = createHostScheduler(new FakeClock(), { ...places(8), browser: () => 1 });
  const browser = createSlots(1);
  const shown: string[] = [];
  const sent = Promise.withResolvers<void>();
  const renderer = {
    render: ({ url, signal, onRedirect }: RenderRequest) =>
      browser.run("", signal, async () => {
        if (url === "http://a.example/") {
          await sent.promise;
          await onRedirect?.("http://b.example/", signal);
        }
        shown.push(url);
        return { url, status: 200, html: "" };
      }),
    close: async () => undefined,
  };
  const polite = scheduledRenderer(renderer, { scheduler, claimOf });
  const show = (url: string, accountId: string) =>
    polite.render({
      url,
      timeoutMs: 1000,
      signal: never,
      screenshot: "none",
      userAgent: "",
      bytesMax: 1000,
      accountId,
    });
  const leading = show("http://a.example/", "one");
  await settle();
  const others = [1, 2, 3, 4].map((n) => show(`http://b.example/${n}`, `account ${n % 2}`));
  await settle();
  sent.resolve();
  await settle();
  expect([shown.length, shown[0]]).toEqual([5, "http://a.example/"]);
  await Promise.all([leading, ...others]);
  // All places were given back.
  await fill(scheduler, "a.example");
  await fill(scheduler, "b.example");
  expect(scheduler.load().waiting).toBe(0);
});

test("accounts share the browser: endless pages of one do not block others", async () => {
  const scheduler = createHostScheduler(new FakeClock(), { ...places(32), browser: () => 4 });
  const shown: string[] = [];
  const end = Promise.withResolvers<void>();
  const renderer = {
    render: async ({ url, accountId }: RenderRequest) => {
      shown.push(url);
      if (accountId === "endless") await end.promise;
      return { url, status: 200, html: "" };
    },
    close: async () => undefined,
  };
  const polite = scheduledRenderer(renderer, { scheduler, claimOf });
  const show = (url: string, accountId: string) =>
    polite.render({
      url,
      accountId,
      timeoutMs: 1000,
      signal: never,
      screenshot: "none",
      userAgent: "",
      bytesMax: 1000,
    });
  const endless = Array.from({ length: 10 }, (_, n) => show(`http://endless${n}.example/`, "endless"));
  await settle();
  // One of the four places is reserved for others.
  expect(shown).toHaveLength(3);
  for (let n = 0; n < 5; n++) await show(`http://other${n}.example/`, "other");
  expect([shown.length, shown.filter((url) => url.includes("endless")).length]).toEqual([8, 3]);
  end.resolve();
  await Promise.all(endless);
  expect([shown.length, scheduler.load().waiting]).toEqual([15, 0]);
});
