// The generated files are up to date.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { GENERATED } from "../../scripts/generate.ts";
import { ERROR_HELP } from "../../src/base/error-help.ts";
import { ERRORS } from "../../src/base/errors.ts";

const root = join(import.meta.dir, "../..");

test.each(Object.entries(GENERATED))("%s is what `bun run generate` writes", async (file, write) => {
  expect(await Bun.file(join(root, file)).text()).toBe(await write());
});

test("every page that says that it is generated is in the list", async () => {
  const said: string[] = [];
  for (const file of new Bun.Glob("docs/**/*.md").scanSync({ cwd: root }))
    if (/^<!-- Written by `bun /m.test(await Bun.file(join(root, file)).text())) said.push(file);
  expect(said.length).toBeGreaterThan(5);
  expect(said.filter((file) => GENERATED[file] === undefined)).toEqual([]);
});

test("every error code has its help, and no other has", () => {
  expect(Object.keys(ERROR_HELP).sort()).toEqual(Object.keys(ERRORS).sort());
  for (const help of Object.values(ERROR_HELP)) expect(help).toEndWith(".");
});
