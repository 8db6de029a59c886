// A pinned version whose upstream reports a different version.

import { afterEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { isOtherVersion } from "../../src/decisions/models/watch.ts";
import { runCommand } from "./command.ts";
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
  ["jev-1", "jev-9", true],
  ["jev-1", "typesafe/jev-1", false],
  ["jev-1", "jev-1.13.0", false],
  ["gpt-5", "gpt-5-2025-08-07", false],
  ["gpt-35-turbo", "gpt-3.5-turbo-0125", false],
  ["llama-33-70b", "llama-3.3-70b", false],
  ["gpt-4", "gpt-41", true],
  ["prod-1", "gpt-4o-2024-08-06", false],
])("requested as %s, it reports %s: a different version: %p", (pinned, named, other) => {
  expect(isOtherVersion(pinned, named)).toBe(other);
});

test("an answer of another version than the pinned one is not used, and reported also after a restart", async () => {
  const says = (model: string) =>
    startFake(async (body, path) => {
      // `doctor` asks for the list.
      if (path.endsWith("/models")) return new Response("{}", { status: 404 });
      return Response.json({ ...(await nativeAnswers(body).json()), model });
    });
  const native = says("jev-1.14.0");
  open.push(native);
  const right = says("jev-1.13.0");
  open.push(right);
  const dir = tempDir();
  const alert = Promise.withResolvers<unknown>();
  const hook = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      alert.resolve(await request.json());
      return new Response();
    },
  });
  open.push(hook);
  const backend = { kind: "systemone", routes: [{ provider: "native", model: "jev-1.13.0" }] };
  const config = {
    data_dir: `${dir}-data`,
    alerts: { webhook: hook.url.href, webhook_secret: "s" },
    providers: {
      native: { kind: "systemone", base_url: native.url },
      right: { kind: "systemone", base_url: right.url },
    },
    decisions: {
      models: [
        { id: "pinned-1.0.0", backend },
        {
          id: "two-1.0.0",
          backend: { ...backend, routes: [...backend.routes, { provider: "right", model: "jev-1.13.0" }] },
        },
      ],
    },
  };
  open.push({ stop: () => rmSync(`${dir}-data`, { recursive: true, force: true }) });
  const gateway = await startGateway(config, dir);
  const asked = { model: "pinned-1.0.0", state: "s", questions: { q: { type: "noul", instructions: "?" } } };
  const refused = await gateway.post("/v1/systemone", asked, await gateway.key());
  expect([refused.status, refused.body.error.code]).toEqual([503, "decision_unavailable"]);
  // The next route of the version is tried.
  const two = await gateway.post("/v1/systemone", { ...asked, model: "two-1.0.0" }, await gateway.key());
  expect([two.status, two.body.model]).toEqual([200, "two-1.0.0"]);
  const drifted = async (of: Gateway) => (await of.get("/health")).body.subsystems.decisions.drifted.length > 0;
  await until(() => drifted(gateway));
  expect(gateway.logs.join("")).toContain("reports another version");
  expect(await alert.promise).toMatchObject({
    type: "decision_drift",
    subject: "pinned-1.0.0",
    details: { provider: "native", now: "jev-1.14.0", before: "jev-1.13.0" },
  });
  await gateway.stop();
  await Bun.write(join(dir, "sallyport.yaml"), JSON.stringify(config));
  const doctor = await runCommand(dir, ["doctor"]);
  expect(doctor.out).toContain('"pinned-1.0.0": its upstream has answered with another version');
  const again = await startGateway(config, tempDir());
  open.push(again);
  await until(() => drifted(again));
});
