// The generated pages are up to date.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { GENERATED } from "../../scripts/reference.ts";
import { ERROR_HELP } from "../../src/base/error-help.ts";
import { ERRORS } from "../../src/base/errors.ts";

test.each(Object.entries(GENERATED))("docs/%s is what `bun scripts/reference.ts` writes", async (file, write) => {
  expect(await Bun.file(join(import.meta.dir, "../../docs", file)).text()).toBe(await write());
});

test("every error code has its help, and no other has", () => {
  expect(Object.keys(ERROR_HELP).sort()).toEqual(Object.keys(ERRORS).sort());
  for (const help of Object.values(ERROR_HELP)) expect(help).toEndWith(".");
});
