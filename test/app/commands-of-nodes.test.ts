// What two nodes, real processes, do together without jobs: commands that were given anywhere act on both, and every request
// is charged once, whatever id its client sent.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Fake, nativeAnswers, startFake } from "../decisions/support.ts";
import { type Cluster, HAS_NODES, type NodeProcess, startCluster } from "../support/nodes.ts";
import { chatAnswer, type FakeUpstream, startUpstream } from "../support/upstream.ts";

describe.skipIf(!HAS_NODES)("two nodes", () => {
  let native: Fake;
  let up: FakeUpstream;
  let cluster: Cluster;
  let nodes: NodeProcess[];

  beforeAll(async () => {
    native = startFake((body) => (body === undefined ? Response.json({ data: [] }) : nativeAnswers(body)));
    up = startUpstream();
    const usage = { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 };
    up.answer(() => chatAnswer({ content: "x" }, { extra: { usage } }));
    const backend = { kind: "systemone", routes: [{ provider: "native", model: "jev-1.13.0" }] };
    cluster = await startCluster({
      usage: { flush: "1ms" },
      tiers: { premium: { rpm: 1_000_000 } },
      providers: {
        native: { kind: "systemone", base_url: native.url },
        up: { kind: "openai", base_url: up.baseUrl, discover: false },
      },
      // An output token costs a micro-dollar.
      models: [{ id: "priced", routes: [{ provider: "up", model: "m" }], prices: { input: 0, output: 1 } }],
      decisions: {
        models: [
          { id: "x-1.0.0", aliases: ["x"], backend },
          { id: "x-2.0.0", backend },
        ],
      },
    });
    nodes = [await cluster.start("a"), await cluster.start("b")];
  }, 120_000);
  afterAll(async () => {
    await cluster?.stop();
    native?.stop();
    up?.stop();
  });

  const decide = async (node: NodeProcess) => {
    const body = { model: "x", state: "s", questions: { q: { type: "noul", instructions: "?" } } };
    return (await node.json<{ model?: string }>("/v1/systemone", { method: "POST", body })).model;
  };

  test("follow a promotion of a decision model", async () => {
    expect(await Promise.all(nodes.map(decide))).toEqual(["x-1.0.0", "x-1.0.0"]);
    await cluster.command("decisions", "promote", "x-2.0.0", "x", "--force");
    for (const node of nodes) while ((await decide(node)) !== "x-2.0.0") await Bun.sleep(10);
    await cluster.command("decisions", "promote", "x-1.0.0", "x", "--force");
    for (const node of nodes) while ((await decide(node)) !== "x-1.0.0") await Bun.sleep(10);
  }, 60_000);

  test("charge 1,000 requests with one X-Request-ID 1,000 times", async () => {
    const body = JSON.stringify({ model: "priced", messages: [{ role: "user", content: "hi" }] });
    const headers = {
      authorization: `Bearer ${cluster.key}`,
      "content-type": "application/json",
      "x-request-id": "the-same-for-all",
    };
    const statuses: number[] = [];
    let left = 1000;
    const worker = async () => {
      while (left > 0) {
        const node = nodes[left-- % 2] as NodeProcess;
        const answer = await fetch(`${node.url}/v1/chat/completions`, { method: "POST", headers, body });
        await answer.text();
        statuses.push(answer.status);
      }
    };
    await Promise.all(Array.from({ length: 16 }, worker));
    expect(statuses).toEqual(Array.from({ length: 1000 }, () => 200));
    const rows = cluster.store.statement<{ n: number; cost: number }>(
      "SELECT COUNT(*) AS n, SUM(cost_micros) AS cost FROM usage WHERE request_id LIKE ?",
    );
    let written = await rows.get(["%the-same-for-all%"]);
    while ((written?.n ?? 0) < 1000) {
      await Bun.sleep(20);
      written = await rows.get(["%the-same-for-all%"]);
    }
    expect(written).toEqual({ n: 1000, cost: 3000 });
    const daily = cluster.store.statement<{ n: number; cost: number }>(
      "SELECT SUM(requests) AS n, SUM(cost_micros) AS cost FROM usage_daily WHERE model = 'priced'",
    );
    expect(await daily.get()).toEqual({ n: 1000, cost: 3000 });
    const key = cluster.store.statement<{ spent: number }>("SELECT spent_micros AS spent FROM api_keys");
    expect(await key.get()).toEqual({ spent: 3000 });
  }, 90_000);

  test("follow a change of an account's plan, and its deletion", async () => {
    const rpmOf = async (node: NodeProcess) => (await node.call("/v1/models")).status;
    expect(await Promise.all(nodes.map(rpmOf))).toEqual([200, 200]);
    const limit = async (node: NodeProcess) => {
      const body = { model: "priced", messages: [{ role: "user", content: "hi" }] };
      const answer = await node.call("/v1/chat/completions", { method: "POST", body });
      await answer.text();
      return Number(answer.headers.get("x-ratelimit-limit"));
    };
    for (const node of nodes) expect(await limit(node)).toBe(1_000_000);
    await cluster.command("account", "set-tier", "--email", "nodes@example.com", "--tier", "free");
    for (const node of nodes) while ((await limit(node)) === 1_000_000) await Bun.sleep(10);
    await cluster.command("account", "delete", "--email", "nodes@example.com", "--yes");
    for (const node of nodes) while ((await node.call("/v1/models")).status !== 401) await Bun.sleep(10);
  }, 60_000);
});
