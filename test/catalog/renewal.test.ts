import { expect, test } from "bun:test";
import { mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { createKnownModels } from "../../src/catalog/renewal.ts";

type Config = ReturnType<Parameters<typeof createKnownModels>[0]["config"]>;
const OPENAI = "https://api.openai.com/v1";

/** The known models with the operator's file `name`, and the failures in their order. */
function knownWith(name: string) {
  const dataDir = mkdtempSync(join(tmpdir(), "sallyport-prices-"));
  const file = join(dataDir, name);
  const failures: unknown[] = [];
  let failed = Promise.withResolvers<void>();
  const config = { catalog: { prices: { file, url: "", intervalMs: 0 } }, dataDir, providers: [{ kind: "openai" }] };
  const known = createKnownModels({
    config: () => config as unknown as Config,
    clock: systemClock,
    changed: () => undefined,
    failed(error) {
      failures.push(error);
      failed.resolve();
      failed = Promise.withResolvers();
    },
  });
  return { known, file, dataDir, failures, nextFailure: () => failed.promise };
}

test("a file that cannot even be looked at is reported, and what the program knows stays in force", async () => {
  const { known, dataDir, failures } = knownWith("file/prices.json");
  writeFileSync(join(dataDir, "file"), "");
  try {
    await known.start();
    expect(known.find(OPENAI, "gpt-4o")).toBeDefined();
    expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining("ENOTDIR") })]);
  } finally {
    known.stop();
  }
});

test("a list that is found half written takes no price away", async () => {
  const { known, file, nextFailure } = knownWith("prices.json");
  const text = JSON.stringify({ models: [{ vendor: "openai", id: "gpt-9-nova", prices: { input: 3, output: 12 } }] });
  writeFileSync(file, text);
  try {
    await known.start();
    const failed = nextFailure();
    writeFileSync(file, text.slice(0, -9));
    known.reconfigure();
    await failed;
    // What follows a failure runs before the next turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect(known.find(OPENAI, "gpt-9-nova")?.prices).toEqual({ input: 3, output: 12 });
  } finally {
    known.stop();
  }
});

test.each<[string, number | undefined, boolean]>([
  ["none was kept", undefined, true],
  ["the kept one is older than the interval", 25, true],
  ["the kept one is newer", 1, false],
])("at a start a list is fetched if it is due: %s", async (_name, hours, isFetched) => {
  const dataDir = mkdtempSync(join(tmpdir(), "sallyport-prices-"));
  const list = (input: number) => ({ models: [{ vendor: "openai", id: "gpt-9-nova", prices: { input, output: 12 } }] });
  const kept = join(dataDir, "prices.json");
  if (hours !== undefined) {
    writeFileSync(kept, JSON.stringify(list(1)));
    const then = new Date(systemClock.now() - hours * 3_600_000);
    utimesSync(kept, then, then);
  }
  let asked = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      asked += 1;
      return Response.json(list(2));
    },
  });
  const renewed = Promise.withResolvers<void>();
  const prices = { file: "", url: server.url.href, intervalMs: 24 * 3_600_000 };
  const known = createKnownModels({
    config: () => ({ catalog: { prices }, dataDir, providers: [{ kind: "openai" }] }) as unknown as Config,
    clock: systemClock,
    changed() {
      if (known.find(OPENAI, "gpt-9-nova")?.prices?.input === (isFetched ? 2 : 1)) renewed.resolve();
    },
  });
  try {
    await known.start();
    await renewed.promise;
    expect(asked).toBe(isFetched ? 1 : 0);
  } finally {
    known.stop();
    await server.stop(true);
  }
});
