// A budget over two nodes on one PostgreSQL and one Redis, over HTTP: a client that asks the nodes in turn spends it once, however
// late usage is written, and also while Redis is gone.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HAS_ENGINES, startTwoNodes, type TwoNodes } from "./two-nodes.ts";

const BUDGET_MICROS = 10_000;
const asked = { model: "priced", max_tokens: 5, messages: [{ role: "user", content: "word ".repeat(990) }] };

describe.skipIf(!HAS_ENGINES)("a budget over two nodes", () => {
  let both: TwoNodes;
  beforeAll(async () => {
    both = await startTwoNodes({
      // Longer than the test.
      usage: { flush: "10m" },
      providers: { demo: { kind: "demo" } },
      models: [{ id: "priced", routes: [{ provider: "demo", model: "demo-echo" }], prices: { input: 1, output: 0 } }],
    });
  }, 60_000);
  afterAll(() => both?.stop());

  async function spendInTurn() {
    const made = await both.command(
      ...["key", "create", "--account", "first@example.com", "--name", "b", "--budget", "0.01", "--json"],
    );
    const { key } = JSON.parse(made.out) as { key: string };
    const statuses: number[] = [];
    let spent = 0;
    let most = 0;
    for (let at = 0; statuses.at(-1) === 200 || statuses.length < 30; at++) {
      const answer = await fetch(`${both.nodes[at % 2]!.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(asked),
      });
      statuses.push(answer.status);
      const { usage } = (await answer.json()) as { usage?: { prompt_tokens: number } };
      spent += usage?.prompt_tokens ?? 0;
      most = Math.max(most, usage?.prompt_tokens ?? 0);
    }
    return { spent, most, refusals: [...new Set(statuses.filter((status) => status !== 200))] };
  }

  test("is spent once, and then 402, though nothing is written yet", async () => {
    const { spent, most, refusals } = await spendInTurn();
    expect(refusals).toEqual([402]);
    expect(spent).toBeGreaterThanOrEqual(BUDGET_MICROS);
    expect(spent).toBeLessThan(BUDGET_MICROS + most);
  }, 60_000);

  test("is spent about once while Redis is gone", async () => {
    await both.redis.kill();
    await both.inMode("local");
    const { spent, most } = await spendInTurn();
    expect(spent).toBeGreaterThan(BUDGET_MICROS - 2 * most);
    expect(spent).toBeLessThan(BUDGET_MICROS + 2 * most);
    await both.redis.start();
    await both.inMode("shared");
  }, 60_000);
});
