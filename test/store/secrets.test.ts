import { expect, test } from "bun:test";
import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { secretStore, secretsPath } from "../../src/store/secrets.ts";
import { freshStore, secondStore } from "./support.ts";

test("a secret is made once, kept privately, and the same for every process", async () => {
  const { store, dataDir } = freshStore();
  const secrets = secretStore(store);
  expect(await secrets.findSecret("jwt_secret")).toBeUndefined();
  const jwt = await secrets.secret("jwt_secret");
  expect(jwt).toMatch(/^[0-9A-Za-z]{48}$/);
  expect(await secrets.secret("pseudonym_salt")).not.toBe(jwt);
  expect(await secretStore(secondStore(store)).secret("jwt_secret")).toBe(jwt);
  expect(statSync(join(dataDir, "secrets.json")).mode & 0o777).toBe(0o600);
  await secrets.dropSecret("pseudonym_salt");
  expect(await secrets.findSecret("pseudonym_salt")).toBeUndefined();
  expect(await secrets.findSecret("jwt_secret")).toBe(jwt);
});

test("a left-over of a crash does not widen the mode", async () => {
  const { store, dataDir } = freshStore();
  writeFileSync(join(dataDir, "secrets.json.part"), "half", { mode: 0o644 });
  await secretStore(store).secret("jwt_secret");
  expect(statSync(join(dataDir, "secrets.json")).mode & 0o777).toBe(0o600);
});

test("a file that cannot be read is named and never replaced", async () => {
  const { store, dataDir } = freshStore();
  const path = join(dataDir, "secrets.json");
  writeFileSync(path, "{ not json");
  await expect(secretStore(store).secret("jwt_secret")).rejects.toThrow(/secrets\.json cannot be read/);
  expect(await Bun.file(path).text()).toBe("{ not json");
});

test("a file that went astray is named and never replaced, unless {} says so", async () => {
  const { store, dataDir } = freshStore();
  const path = join(dataDir, "secrets.json");
  const jwt = await secretStore(store).secret("jwt_secret");
  rmSync(path);
  const missing = /secrets\.json is missing: put it back from a backup/;
  const again = secretStore(secondStore(store));
  await expect(again.secret("jwt_secret")).rejects.toThrow(missing);
  await expect(again.findSecret("jwt_secret")).rejects.toThrow(missing);
  expect(() => secretsPath(store)).toThrow(missing);
  expect(existsSync(path)).toBe(false);
  writeFileSync(path, "{}");
  expect(await again.secret("jwt_secret")).not.toBe(jwt);
});

test("a file that an older version made is noticed from the first use on", async () => {
  const { store, dataDir } = freshStore();
  const path = join(dataDir, "secrets.json");
  writeFileSync(path, '{"jwt_secret":"old"}');
  expect(await secretStore(store).secret("jwt_secret")).toBe("old");
  rmSync(path);
  await expect(secretStore(store).secret("jwt_secret")).rejects.toThrow(/is missing/);
});

test("a file that another process makes meanwhile is not missing", async () => {
  const { store, dataDir } = freshStore();
  const { sqlite } = store;
  let made = "";
  const query = ((text: string) => {
    // Between the look for the file and the one at the note.
    if (made === "") {
      made = "x".repeat(48);
      writeFileSync(join(dataDir, "secrets.json"), JSON.stringify({ jwt_secret: made }));
      sqlite.run("PRAGMA user_version = 1");
    }
    return sqlite.query(text);
  }) as typeof sqlite.query;
  const late = { ...store, sqlite: Object.assign(Object.create(sqlite) as typeof sqlite, { query }) };
  expect(await secretStore(late).secret("jwt_secret")).toBe(made);
});

test("processes that start together agree on one secret", async () => {
  const { store, dataDir } = freshStore();
  const src = join(import.meta.dir, "../../src/store");
  const script = `
    const { openStore } = await import(${JSON.stringify(join(src, "engine/open.ts"))});
    const { secretStore } = await import(${JSON.stringify(join(src, "secrets.ts"))});
    console.log(await secretStore(openStore({ dataDir: ${JSON.stringify(dataDir)} })).secret("jwt_secret"));`;
  const runs = Array.from({ length: 4 }, () =>
    Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" }),
  );
  const seen = await Promise.all(runs.map((run) => new Response(run.stdout).text()));
  expect(new Set(seen).size).toBe(1);
  expect(seen[0]?.trim()).toBe(await secretStore(store).secret("jwt_secret"));
});
