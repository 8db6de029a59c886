import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { NOT_BUILT, setInVain } from "../../src/config/not-built.ts";
import { ConfigFile } from "../../src/config/schema.ts";

function configOf(text: string) {
  const cwd = mkdtempSync(join(tmpdir(), "sallyport-not-built-"));
  writeFileSync(join(cwd, "sallyport.yaml"), text);
  const result = loadConfig({ env: {}, cwd });
  rmSync(cwd, { recursive: true });
  if (!result.ok) throw new Error(result.problems.join("; "));
  return result.config;
}

test("a key that nothing uses is named where it is set, and never refused", () => {
  const list = [{ key: "server.port", read: ({ server }: ReturnType<typeof configOf>) => server.port }];
  expect(setInVain(configOf(""), list)).toEqual([]);
  expect(setInVain(configOf("server: {port: 8787}"), list)).toEqual([]);
  expect(setInVain(configOf("server: {port: 9000}"), list)).toEqual(["server.port"]);
  expect(setInVain(configOf("server: {port: 9000}"), [])).toEqual([]);
});

test("every key on the list is one of the configuration's", () => {
  for (const { key } of NOT_BUILT) {
    let node: { properties?: Record<string, object>; items?: object } = ConfigFile;
    for (const step of key.split(".")) {
      const name = step.replace("[]", "");
      expect([key, Object.keys(node.properties ?? {})]).toEqual([key, expect.arrayContaining([name])]);
      node = node.properties?.[name] ?? {};
      if (step !== name) node = node.items ?? {};
    }
  }
});
