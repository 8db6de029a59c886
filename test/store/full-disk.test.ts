import { expect, test } from "bun:test";
import { isFull, isUnreachable } from "../../src/base/unreachable.ts";
import { asApiError } from "../../src/http/errors.ts";
import { settingsStore } from "../../src/store/settings.ts";
import { asWebError, endsWorker } from "../../src/web/failure.ts";
import { freshStore } from "./support.ts";

test("what finds no room is told as such, may be tried again, and ends no job", async () => {
  const { store } = freshStore();
  const { page_count } = store.sqlite.query<{ page_count: number }, []>("PRAGMA page_count").get()!;
  store.sqlite.run(`PRAGMA max_page_count = ${page_count}`);
  const settings = settingsStore(store);
  const large = "x".repeat(100_000);
  const error: unknown = await settings.writeSetting("large", large).catch((thrown: unknown) => thrown);
  expect([isFull(error), isUnreachable(error), endsWorker(error)]).toEqual([true, true, true]);
  for (const told of [asApiError(error), asWebError("crawl", error)])
    expect(told).toMatchObject({ apiCode: "server_busy", status: 503, message: expect.stringContaining("no room") });
  // There is room again.
  store.sqlite.run("PRAGMA max_page_count = 1000000");
  await settings.writeSetting("large", large);
  expect(await settings.readSetting("large")).toBe(large);
});

test.each(["ENOSPC", "EDQUOT"])("a file that finds no room (%s) likewise", (code) => {
  const error = Object.assign(new Error("x"), { code });
  expect(asApiError(error)).toMatchObject({ apiCode: "server_busy", status: 503 });
  expect(asApiError(Object.assign(new Error("x"), { code: "EIO" }))).toMatchObject({ apiCode: "internal_error" });
});
