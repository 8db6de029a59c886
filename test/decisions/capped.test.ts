// An engine that silently returns fewer alternatives of a token than requested.

import { afterEach, expect, test } from "bun:test";
import { startSimulated } from "./simulated.ts";
import { startGateway } from "./support.ts";

const open: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

test.each([
  [{}, false],
  [{ top_logprobs: 5 }, true],
])("at most five alternatives, with the limits %p: the model is listed: %p", async (limits, listed) => {
  const engine = startSimulated({ beliefs: (_, options) => options.map(() => 0), top: 5 });
  open.push(engine);
  const backend = { kind: "logprobs", prior: "none", limits, routes: [{ provider: "sim", model: "m" }] };
  const gateway = await startGateway({
    health: { probe: "models" },
    providers: { sim: { kind: "openai", base_url: engine.url, discover: false } },
    decisions: { models: [{ id: "judge-1.0.0", backend }] },
  });
  open.push(gateway);
  const key = await gateway.key();
  // The engine is first asked the easy question, and then one whose answers are about equally probable.
  while (engine.calls.length < 2) await Bun.sleep(10);
  // Beside the built-in one.
  const ids = async () => (await gateway.get("/v1/systemone/models", key)).body.data.length - 1;
  while ((await ids()) > 0 !== listed) await Bun.sleep(10);
  expect(await ids()).toBe(listed ? 1 : 0);
  const { unfit } = (await gateway.get("/health")).body.subsystems.decisions;
  const reason = expect.stringContaining("set limits.top_logprobs to 5");
  expect(unfit).toEqual(listed ? [] : [{ model: "judge-1.0.0", reason }]);
  // The model can still be called by its id. Two letters are among the returned alternatives, but of twenty options some are
  // missing.
  const ask = async (question: unknown) =>
    (await gateway.post("/v1/systemone", { model: "judge-1.0.0", state: "s", questions: { q: question } }, key)).status;
  const criteria = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`o${at}`, null]));
  const choice = await ask({ type: "choice", criteria });
  expect([await ask({ type: "noul", instructions: "?" }), choice]).toEqual([200, listed ? 200 : 503]);
});
