// Jobs of two nodes, real processes over one PostgreSQL: they outlive the node that works on them, and end at once wherever
// that is asked for.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { type Cluster, HAS_NODES, type NodeProcess, startCluster } from "../support/nodes.ts";
import { honest, linesPage, modelConfig, type ScriptedModel, startModel } from "../web/extract-script.ts";

// Each step waits for an event, however busy the machine is; the limits only end a wait that would last forever.
const paths = (kind: string, count: number) => Array.from({ length: count }, (_, n) => `/${kind}/${n}`);
const SCHEMA = { type: "object", properties: { item: { type: "array", items: { type: "string" } } } };

/** One of each kind of job, of pages of its own; the last of them waits while the first node lives. */
interface Kind {
  readonly start: string;
  readonly poll: string;
  body(url: string): Record<string, unknown>;
  /** What its client gets in the end, for its pages. */
  result(answer: Record<string, never>): unknown;
}
const dataOf = ({ data }: { data?: { metadata: { sourceURL: string } }[] }) =>
  data?.map(({ metadata }) => new URL(metadata.sourceURL).pathname).sort();
const PAGES = 8;
const KINDS: Readonly<Record<string, Kind>> = {
  crawl: {
    start: "/v1/crawl",
    poll: "/v1/crawl",
    body: (url) => ({ url: `${url}/crawl/0`, limit: 100 }),
    result: dataOf,
  },
  firecrawl: {
    start: "/v2/crawl",
    poll: "/v2/crawl",
    body: (url) => ({ url: `${url}/firecrawl/0`, limit: 100, sitemap: "skip", crawlEntireDomain: true }),
    result: dataOf,
  },
  batch: {
    start: "/v2/batch/scrape",
    poll: "/v2/batch/scrape",
    body: (url) => ({ urls: paths("batch", PAGES).map((path) => url + path) }),
    result: dataOf,
  },
  extract: {
    start: "/v1/extract",
    poll: "/v1/extract",
    body: (url) => ({ urls: paths("extract", PAGES).map((path) => url + path), prompt: "Every item.", schema: SCHEMA }),
    result: ({ data }) =>
      (data as { item: string[] } | undefined)?.item.map((text) => text.slice("number ".length)).sort(),
  },
  llmstxt: {
    start: "/v1/llmstxt",
    poll: "/v1/llmstxt",
    body: (url) => ({ url: `${url}/llmstxt/0`, max_urls: PAGES, timeout_seconds: 120 }),
    result: ({ llmstxt }) =>
      [...new Set([...String(llmstxt).matchAll(/\/llmstxt\/\d+/g)].map(([path]) => path))].sort(),
  },
};

describe.skipIf(!HAS_NODES)("jobs of two nodes", () => {
  /** One for each kind: a host is asked for few pages at once. */
  const sites = new Map<string, FakeSite>();
  const siteOf = (kind: string) => sites.get(kind) as FakeSite;
  let site: FakeSite;
  let model: ScriptedModel;
  let cluster: Cluster;
  let nodes: NodeProcess[];
  /** Opens when the first node is dead. */
  const gate = Promise.withResolvers<void>();
  const never = new Promise<void>(() => undefined);
  const held = (text: string, until: Promise<void>) => async () => {
    await until;
    return html(text);
  };

  beforeAll(async () => {
    site = startFakeSite({ "/forever": held("", never) });
    for (const kind of Object.keys(KINDS)) {
      const own = paths(kind, PAGES);
      const pages: Record<string, Parameters<FakeSite["set"]>[1]> = {};
      for (const [n, path] of own.entries()) {
        const text =
          kind === "extract" ? linesPage(path, [`Item: number ${path}`]) : page(path, n === 0 ? own.slice(1) : []);
        pages[path] = n === PAGES - 1 ? held(text, gate.promise) : text;
      }
      sites.set(kind, startFakeSite(pages));
    }
    model = startModel(async (asked) => honest(asked));
    cluster = await startCluster({
      web: { allow_hosts: [site, ...sites.values()].map(({ host }) => host), render: "never" },
      usage: { flush: "1ms" },
      ...modelConfig(model),
    });
    nodes = [await cluster.start("a"), await cluster.start("b")];
  }, 900_000);
  afterAll(async () => {
    gate.resolve();
    await cluster?.stop();
    for (const one of [site, ...sites.values()]) await one?.stop();
    await model?.upstream.stop();
  });

  const rows = async <T>(text: string, ...values: string[]) => cluster.store.statement<T>(text).all(values);
  const idOf = async (kind: string) => {
    for (;;) {
      const found = await rows<{ id: string }>("SELECT id FROM jobs WHERE CAST(input AS TEXT) LIKE ?", `%/${kind}/0%`);
      if (found[0] !== undefined) return found[0].id;
      await Bun.sleep(10);
    }
  };
  /** A crawl that waits for a page that never comes. */
  const startForever = async (node: NodeProcess, key = cluster.key): Promise<string> => {
    const times = site.count("/forever");
    const answer = await node.call("/v1/crawl", { method: "POST", body: { url: `${site.url}/forever` }, key });
    const { id } = (await answer.json()) as { id: string };
    await site.asked("/forever", times + 1);
    return id;
  };
  const ownerOf = async (id: string) =>
    (await rows<{ owner: string | null }>("SELECT owner FROM jobs WHERE id = ?", id))[0]?.owner;
  const runningAt = async (node: NodeProcess) => {
    const { subsystems } = await node.json<{ subsystems: { jobs: { running: number } } }>("/health");
    return subsystems.jobs.running;
  };
  const idle = async () => {
    for (const node of nodes) while ((await runningAt(node)) > 0) await Bun.sleep(20);
  };

  test("a cancellation at one node ends the work of the other", async () => {
    const [a, b] = nodes as [NodeProcess, NodeProcess];
    const id = await startForever(a);
    const other = (await ownerOf(id)) === "a" ? b : a;
    const cancelled = await other.json(`/v1/crawl/${id}`, { method: "DELETE" });
    expect(cancelled).toMatchObject({ success: true, status: "cancelled" });
    await idle();
    expect(await other.json(`/v1/crawl/${id}`)).toMatchObject({ status: "cancelled" });
  }, 900_000);

  test("the deletion of an account at one node ends the work of the other", async () => {
    const [a] = nodes as [NodeProcess];
    const made = await accountStore(cluster.store).createAccount({
      ...{ username: "gone", email: "gone@example.com", tier: "premium", emailVerified: true },
    });
    if ("refused" in made) throw new Error(made.refused);
    const { key } = await keyStore(cluster.store).createKey({ accountId: made.id, name: "k" });
    const id = await startForever(a, key);
    await cluster.command("account", "delete", "--email", "gone@example.com", "--yes");
    await idle();
    expect(await ownerOf(id)).toBeUndefined();
    for (const node of nodes) while ((await node.call("/v1/crawl/none", { key })).status !== 401) await Bun.sleep(10);
  }, 900_000);

  test("a node that was stalled while another took its crawl over writes nothing more for it", async () => {
    const [a, b] = nodes as [NodeProcess, NodeProcess];
    const [early, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const own = paths("stall", 4);
    const last = own.at(-1) ?? "";
    for (const path of own) site.set(path, page(path, own.slice(1)));
    site.set(last, async () => {
      await (site.count(last) === 1 ? late.promise : early.promise);
      return html(page(last));
    });
    const { id } = await a.json<{ id: string }>("/v1/crawl", { method: "POST", body: { url: site.url + own[0] } });
    await site.asked(last);
    const pages = async () => (await rows<{ url: string }>("SELECT url FROM job_pages WHERE job_id = ?", id)).length;
    while ((await pages()) < own.length - 1) await Bun.sleep(10);
    const [first, next] = (await ownerOf(id)) === "a" ? [a, b] : [b, a];
    first.stall();
    try {
      await rows("UPDATE jobs SET lease_until = 0 WHERE id = ?", id);
      await site.asked(last, 2);
    } finally {
      first.resume();
    }
    // Its page arrives now, while the other waits for the same.
    late.resolve();
    while ((await runningAt(first)) > 0) await Bun.sleep(20);
    expect([await ownerOf(id), await pages()]).toEqual([next.name, own.length - 1]);
    early.resolve();
    await idle();
    expect(await next.json(`/v1/crawl/${id}`)).toMatchObject({
      status: "completed",
      completed: 4,
      total: 4,
      errors: [],
    });
    expect(await pages()).toBe(own.length);
  }, 900_000);

  test("a job of every kind goes on at the other node when its own is killed, each page once", async () => {
    const [a, b] = nodes as [NodeProcess, NodeProcess];
    const starts = Object.entries(KINDS).map(([kind, { start, body }]) =>
      // Those whose client waits are never answered: the node dies first.
      a.call(start, { method: "POST", body: body(siteOf(kind).url) }).catch(() => undefined),
    );
    const ids = new Map<string, string>();
    for (const kind of Object.keys(KINDS)) {
      ids.set(kind, await idOf(kind));
      await siteOf(kind).asked(`/${kind}/${PAGES - 1}`);
    }
    // The queue is open to both nodes: what the other has begun it ends, too.
    await a.kill();
    await Promise.all(starts);
    gate.resolve();
    // What the passing of half a minute would do.
    await rows("UPDATE jobs SET lease_until = 0 WHERE owner = 'a' AND state = 'running'");
    for (const [kind, id] of ids) {
      const { poll, result } = KINDS[kind] as Kind;
      let answer = await b.json<Record<string, never>>(`${poll}/${id}`);
      while (["scraping", "processing"].includes(answer["status"] ?? "")) {
        await Bun.sleep(20);
        answer = await b.json(`${poll}/${id}`);
      }
      expect([kind, answer["status"]]).toEqual([kind, "completed"]);
      expect([kind, result(answer)]).toEqual([kind, paths(kind, PAGES)]);
      if (answer["completed"] !== undefined) expect([kind, answer["completed"]]).toEqual([kind, PAGES as never]);
      const stored = await rows<{ url: string }>("SELECT url FROM job_pages WHERE job_id = ?", id);
      expect([kind, stored.map(({ url }) => new URL(url).pathname).sort()]).toEqual([kind, paths(kind, PAGES)]);
    }
  }, 900_000);
});
