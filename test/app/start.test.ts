import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApp } from "../../src/app/start.ts";
import { systemClock } from "../../src/base/clock.ts";
import { LiveConfig } from "../../src/config/live.ts";
import { loadConfig } from "../../src/config/load.ts";
import { createLogger } from "../../src/telemetry/log.ts";

test("a start that fails at the last service gives everything back", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "sallyport-start-"));
  const taken = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("mine") });
  const start = (port: number | undefined) => {
    const load = () => loadConfig({ cwd: dataDir, dataDir, host: "127.0.0.1", port: port ?? 0, env: {} });
    const loaded = load();
    if (!loaded.ok) throw new Error(loaded.problems.join("\n"));
    const log = createLogger({ level: "error", format: "json", clock: systemClock, secrets: [], write() {} });
    return startApp(new LiveConfig(loaded, load), log);
  };
  try {
    await expect(start(taken.port)).rejects.toMatchObject({ code: "EADDRINUSE" });
    // The lock and the database are free again.
    const app = await start(0);
    expect((await fetch(`${app.url}/livez`)).status).toBe(200);
    await app.stop(1000);
  } finally {
    await taken.stop(true);
    rmSync(dataDir, { recursive: true, force: true });
  }
});
