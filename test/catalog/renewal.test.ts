import { expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKnownModels } from "../../src/catalog/renewal.ts";

test("a file that cannot even be looked at is reported, and what the program knows stays in force", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "sallyport-prices-"));
  writeFileSync(join(dataDir, "file"), "");
  const failures: unknown[] = [];
  const config = {
    catalog: { prices: { file: join(dataDir, "file", "prices.json"), url: "", intervalMs: 0 } },
    dataDir,
    providers: [{ kind: "openai" }],
  };
  const known = createKnownModels({
    config: () => config as unknown as ReturnType<Parameters<typeof createKnownModels>[0]["config"]>,
    changed: () => undefined,
    failed: (error) => failures.push(error),
  });
  try {
    await known.start();
    expect(known.find("https://api.openai.com/v1", "gpt-4o")).toBeDefined();
    expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining("ENOTDIR") })]);
  } finally {
    known.stop();
  }
});
