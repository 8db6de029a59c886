// Tags are chosen by clients, so what is kept of them is bounded by account and by program.

import { expect, test } from "bun:test";
import { LabelReader } from "../../src/store/usage/parts.ts";

const names = (reader: LabelReader, tag: string, account = "a", day = 1) =>
  reader.of({ tags: [tag] }, account, day)?.map(({ name }) => name);

test("an account's tags beyond the first thousand of a day share a name, until the next day", () => {
  const reader = new LabelReader();
  for (let at = 0; at < 1000; at++) expect(names(reader, `tag ${at}`)).toEqual([`tag ${at}`]);
  expect(names(reader, "one more")).toEqual(["(other tags)"]);
  expect(names(reader, "tag 7")).toEqual(["tag 7"]);
  expect(names(reader, "mine", "b")).toEqual(["mine"]);
  expect(names(reader, "one more", "a", 2)).toEqual(["one more"]);
});

test("tags of all accounts beyond 200,000 of a day share a name, until the next day", () => {
  const reader = new LabelReader();
  for (let account = 0; account < 200; account++)
    for (let at = 0; at < 1000; at++) names(reader, `tag ${at}`, `account ${account}`);
  expect(names(reader, "late", "the last")).toEqual(["(other tags)"]);
  expect(names(reader, "tag 0", "account 0")).toEqual(["tag 0"]);
  expect(names(reader, "late", "the last", 2)).toEqual(["late"]);
});

test("usage of the day before leaves the days apart", () => {
  const reader = new LabelReader();
  expect(names(reader, "new", "a", 2)).toEqual(["new"]);
  expect(names(reader, "old", "a", 1)).toEqual(["old"]);
  expect(names(reader, "new", "a", 2)).toEqual(["new"]);
});
