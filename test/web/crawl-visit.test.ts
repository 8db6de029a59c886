import { expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import type { Fetched } from "../../src/net/fetch.ts";
import { createHostScheduler } from "../../src/pages/schedule/host-scheduler.ts";
import { type KeptAnswer, type Visiting, visitPage } from "../../src/web/crawl-visit.ts";
import { places } from "../support/places.ts";

const URL_ = "http://a.example/page";
const entry = { urlKey: "a.example/page", url: URL_, depth: 0 };
const options = { bytesMax: 1000, timeoutMs: 1000 };
const text = (answer: { body: Uint8Array }) => new TextDecoder().decode(answer.body);

/** A fake environment of a crawl. It records what was requested, what was stored and what failed. */
function surroundings({ statuses = [] as number[], broken = false } = {}) {
  const asked: string[] = [];
  const kept: KeptAnswer[] = [];
  const problems: string[] = [];
  const scheduler = createHostScheduler(systemClock, places(8));
  const deps = {
    scheduler,
    claimOf: async (url: string) => ({ host: new URL(url).host, delayMs: 0 }),
    problem: (message: string) => void problems.push(message),
    store: {
      listAnswers: async () => kept,
      keepAnswer: async (_job: unknown, _key: string, answer: KeptAnswer) => {
        if (broken) throw new Error("disk full");
        kept.push(answer);
        return true;
      },
    },
    fetch: async (url: string): Promise<Fetched> => {
      asked.push(url);
      const body = new TextEncoder().encode(`answer ${asked.length}`);
      return { url, status: statuses.shift() ?? 200, headers: new Headers({ "x-a": "b" }), body, chain: [url] };
    },
  };
  const visit = <T>(work: (visiting: Visiting) => Promise<T>) =>
    visitPage(
      { job: { id: "j", lease: "l", accountId: "a" }, entry, signal: new AbortController().signal },
      deps,
      work,
    );
  return { asked, kept, problems, scheduler, visit };
}

test("answers are stored for the next visit, including other addresses of the page", async () => {
  const { asked, visit } = surroundings();
  const load = ({ fetch }: Visiting) =>
    Promise.all([URL_, `${URL_}/next`].map(async (url) => text(await fetch(url, options)))).then((texts) =>
      texts.sort(),
    );
  const first = await visit(load);
  expect(await visit(load)).toEqual(first);
  expect(asked).toEqual([URL_, `${URL_}/next`]);
});

test("pages from a browser are stored too, with their screenshot", async () => {
  const { visit, kept } = surroundings();
  const page = {
    url: `${URL_}#x`,
    status: 200,
    html: "<p>Grüße 😀</p>",
    screenshot: new Uint8Array([137, 80, 0, 255]),
  };
  const bare = { url: "about:blank", status: undefined, html: "" };
  let shown = 0;
  const show = (what: typeof page | typeof bare, url: string) =>
    visit(({ rendering }) =>
      rendering(url, async () => {
        shown++;
        return what;
      }),
    );
  for (const [what, url] of [
    [page, URL_],
    [bare, "about:blank"],
  ] as const) {
    expect(await show(what, url)).toEqual(what);
    const again = await show(bare, url);
    expect({
      ...again,
      ...(again.screenshot === undefined ? {} : { screenshot: new Uint8Array(again.screenshot) }),
    }).toEqual(what);
  }
  expect([shown, kept.length]).toEqual([2, 2]);
});

test("an answer that asks to try again later is not stored", async () => {
  const { asked, kept, visit } = surroundings({ statuses: [503, 429, 404] });
  const load = ({ fetch }: Visiting) => fetch(URL_, options).then(({ status }) => status);
  expect([await visit(load), await visit(load), await visit(load), await visit(load)]).toEqual([503, 429, 404, 404]);
  expect([asked.length, kept.length]).toEqual([3, 1]);
});

test("an answer that cannot be stored is still used, and the failure is reported", async () => {
  const { problems, visit } = surroundings({ broken: true });
  expect(text(await visit(({ fetch }) => fetch(URL_, options)))).toBe("answer 1");
  expect(problems).toHaveLength(1);
});

test("the host's place is occupied while the page is loaded, the job's place until the page is finished", async () => {
  const { scheduler, visit } = surroundings();
  const others = await Promise.all([1, 2, 3].map(() => scheduler.ask({ host: "a.example", delayMs: 0 })));
  await visit(async ({ fetch }) => {
    let passed = false;
    const waiting = scheduler.ask({ host: "a.example", delayMs: 0 }).then((leave) => {
      passed = true;
      leave();
    });
    await Promise.resolve();
    expect([passed, scheduler.load()]).toEqual([false, { running: 1, waiting: 1 }]);
    await fetch(URL_, options);
    await waiting;
    expect(scheduler.load()).toEqual({ running: 1, waiting: 0 });
    // This page is already stored. Loading it again does not wait for the host, however busy the host is.
    others.push(await scheduler.ask({ host: "a.example", delayMs: 0 }));
    expect(text(await visit((again) => again.fetch(URL_, options)))).toBe("answer 1");
  });
  expect(scheduler.load()).toEqual({ running: 0, waiting: 0 });
  for (const leave of others) leave();
});

test("a page that fails frees its places", async () => {
  const { scheduler, visit } = surroundings();
  await expect(visit(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  const all = await Promise.all([1, 2, 3, 4].map(() => scheduler.ask({ host: "a.example", delayMs: 0 })));
  expect([all.length, scheduler.load()]).toEqual([4, { running: 0, waiting: 0 }]);
});
