// A pinned version whose upstream reports a different version.

import { afterEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { isOtherVersion } from "../../src/decisions/models/watch.ts";
import { type Gateway, nativeAnswers, startFake, startGateway, tempDir } from "./support.ts";

const open: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await Bun.sleep(10);
}

test.each([
  ["jev-1.13.0", "jev-1.14.0", true],
  ["jev-1.13.0", "typesafe/jev-1.13", false],
  ["jev-1.13", "jev-1.13.0", false],
  ["jev-1.13.0", "jev-1.13.0-eu", false],
  ["jev-latest", "jev-1.14.0", false],
  ["gpt-4.1", "gpt-4.1-2025-04-14", false],
  ["gpt-4.1", "gpt-4.2-2026-04-14", true],
  ["gpt-4.1", "gpt-4o", false],
  ["qwen3-32b", "Qwen/Qwen3-32B", false],
])("requested as %s, it reports %s: a different version: %p", (pinned, named, other) => {
  expect(isOtherVersion(pinned, named)).toBe(other);
});

test("an upstream with another version than the pinned one is reported after its first answer, and after a restart", async () => {
  const native = startFake(async (body) =>
    Response.json({ ...(await nativeAnswers(body).json()), model: "jev-1.14.0" }),
  );
  open.push(native);
  const dir = tempDir();
  const backend = { kind: "systemone", routes: [{ provider: "native", model: "jev-1.13.0" }] };
  const config = {
    data_dir: `${dir}-data`,
    providers: { native: { kind: "systemone", base_url: native.url } },
    decisions: { models: [{ id: "pinned-1.0.0", backend }] },
  };
  open.push({ stop: () => rmSync(`${dir}-data`, { recursive: true, force: true }) });
  const gateway = await startGateway(config, dir);
  const asked = { model: "pinned-1.0.0", state: "s", questions: { q: { type: "noul", instructions: "?" } } };
  expect((await gateway.post("/v1/systemone", asked, await gateway.key())).status).toBe(200);
  const drifted = async (of: Gateway) => (await of.get("/health")).body.subsystems.decisions.drifted.length > 0;
  await until(() => drifted(gateway));
  expect(gateway.logs.join("")).toContain("reports another version");
  await gateway.stop();
  const again = await startGateway(config, tempDir());
  open.push(again);
  await until(() => drifted(again));
});
