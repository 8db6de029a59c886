// The ledger takes names whole or not at all, takes the newest first, counts images, and never holds up the event loop.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Entry } from "../../../../src/chat/entries.ts";
import {
  emptyLedger,
  enterAll,
  type Ledger,
  ledgerText,
  parseLedger,
} from "../../../../src/gateway/stages/compaction/ledger.ts";
import { findNames } from "../../../../src/gateway/stages/compaction/names.ts";
import { cpuMs } from "../../../support/real-time.ts";
import { longestStep } from "../../../support/steps.ts";

const said = (text: string): Entry => ({ role: "user", pieces: [{ type: "text", text }] });
const ledgerOf = (...texts: string[]) => enterAll(emptyLedger(), texts.map(said));

/** A text, and the only names in it. */
const WHOLE: readonly (readonly [string, Partial<Ledger>])[] = [
  ["invoice INV-2031-0077.", { identifiers: ["INV-2031-0077"] }],
  ["PO-2024-00123, CVE-2024-12345", { identifiers: ["PO-2024-00123", "CVE-2024-12345"] }],
  ["550E8400-E29B-41D4-A716-446655440000", { identifiers: ["550E8400-E29B-41D4-A716-446655440000"] }],
  ["commit 7126fc3a", { identifiers: ["7126fc3a"] }],
  ["usr_7f3a-91bc ABC-123-456-789", { identifiers: ["usr_7f3a-91bc", "ABC-123-456-789"] }],
  ["order_12345_abc toolu_01ABCdefGHI_x9", { identifiers: ["order_12345_abc", "toolu_01ABCdefGHI_x9"] }],
  ["v1.23.4 and 2024.11.3", { identifiers: ["v1.23.4", "2024.11.3"] }],
  ["DE89 3704 0044 0532 0130 00", { identifiers: ["DE89 3704 0044 0532 0130 00"] }],
  ["DE89370400440532013000", { identifiers: ["DE89370400440532013000"] }],
  ["ISBN 978-3-16-148410-0", { identifiers: ["978-3-16-148410-0"] }],
  ["call +49 30 1234567 today", { identifiers: ["+49 30 1234567"] }],
  ["#123 (#45) **INV-77-8**", { identifiers: ["#123", "#45", "INV-77-8"] }],
  ["id=INV-2031-0077&n=1", { identifiers: ["INV-2031-0077"] }],
  ["请看INV-2031-0077。", { identifiers: ["INV-2031-0077"] }],
  ["12 000 km, then 35 ms", { amounts: ["12 000 km", "35 ms"] }],
  ["USD 1,234.56; CHF 1'234.50", { amounts: ["USD 1,234.56", "CHF 1'234.50"] }],
  ["EUR 900 or 900 EUR", { amounts: ["EUR 900", "900 EUR"] }],
  ["$4,200.50 and 12%", { amounts: ["$4,200.50", "12%"] }],
  ["1 234 567,89 € or 1.2 million USD", { amounts: ["1 234 567,89 €", "1.2 million USD"] }],
  ["10-20 ms", { amounts: ["10-20 ms"] }],
  ["2024 000 km", {}],
  ["192.168.10.17:8080 localhost:3000", { urls: ["192.168.10.17:8080", "localhost:3000"] }],
  ["write to jo.doe@example.com.", { urls: ["jo.doe@example.com"] }],
  ["[a](https://example.com/Foo_(bar)?y=1), b", { urls: ["https://example.com/Foo_(bar)?y=1"] }],
  ["src/gateway/centre/run.ts and ./a/b.md", { paths: ["src/gateway/centre/run.ts", "./a/b.md"] }],
  ["src/a.ts:12:3 src/b.ts(12,5): error", { paths: ["src/a.ts", "src/b.ts"] }],
  ["app/[id]/(group)/page.tsx", { paths: ["app/[id]/(group)/page.tsx"] }],
  ["src/*.ts src/{a,b}.ts and/or", {}],
  ["C:\\Users\\x\\a.txt", { paths: ["C:\\Users\\x\\a.txt"] }],
];

describe("names", () => {
  test.each(WHOLE)("%p", async (text, names) => {
    const ledger = await ledgerOf(text);
    expect(ledger).toEqual({ ...emptyLedger(), ...names });
    expect(parseLedger(ledgerText(ledger))).toEqual(ledger);
  });

  test("a name is never part of a longer word", () => {
    const piece = fc.constantFrom(
      ..."aZ9-_./:,'@#$€% ([{}])\\\"|=&\n的é".split(""),
      "INV-1",
      "12",
      "km",
      "https://x.y/",
      "a.ts",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join("");
        for (const name of Object.values(findNames(text)).flat() as string[]) {
          const isWhole = [...text.matchAll(new RegExp(RegExp.escape(name), "g"))].some(
            ({ index }) => !/[\w-]/.test(text[index - 1] ?? "") && !/[\w-]/.test(text[index + name.length] ?? ""),
          );
          expect([text, name, isWhole]).toEqual([text, name, true]);
        }
      }),
      { numRuns: 3000 },
    );
  });

  test("the arguments of a call are read without their escapes", async () => {
    const text = JSON.stringify({ text: "a.ts\nb.ts", id: 12345678, at: 'x "INV-1-2"' });
    const call: Entry = { role: "assistant", pieces: [{ type: "call", id: "c", name: "n", text }] };
    expect(await enterAll(emptyLedger(), [call])).toMatchObject({
      paths: ["a.ts", "b.ts"],
      identifiers: ["12345678", "INV-1-2"],
    });
  });
});

test("a name at the edge of what is examined of a long text is not cut", async () => {
  for (let shift = 0; shift < 14; shift++) {
    const ledger = await ledgerOf(`${"x".repeat(shift)} ${"INV-2031-0077 ".repeat(3000)}`);
    expect(ledger.identifiers).toEqual(["INV-2031-0077"]);
  }
});

test("the newest names are kept, within the limit", async () => {
  let ledger = await ledgerOf(...Array.from({ length: 1000 }, (_, n) => `src/deep/folder/file-${n}.ts`));
  ledger = await enterAll(ledger, [said("src/deep/folder/file-900.ts src/last.ts")]);
  expect(ledgerText(ledger).length).toBeLessThan(9000);
  expect(ledger.paths.slice(-3)).toEqual([999, 900].map((n) => `src/deep/folder/file-${n}.ts`).concat("src/last.ts"));
});

test("images are named and counted, over several compactions too", async () => {
  const image: Entry = { role: "user", pieces: [{ type: "media", label: "image (image/png)" }] };
  const result: Entry = {
    role: "tool",
    pieces: [{ type: "result", id: "c", text: "", media: ["image (image/png)", "file a.pdf"] }],
  };
  const first = await enterAll(emptyLedger(), [image, image, result]);
  expect(first.media).toEqual(["image (image/png) × 3", "file a.pdf"]);
  const again = await enterAll(parseLedger(ledgerText(first)), [image]);
  expect(again.media).toEqual(["file a.pdf", "image (image/png) × 4"]);
});

const UNITS = [
  "a",
  "a-1",
  "a_",
  "a.",
  "a-",
  "1,",
  "1 ",
  "12 000 ",
  "/",
  "a/",
  "$1",
  "http://",
  "a://b ",
  "(",
  "a@",
  "x1=",
  "的1",
  "wwww",
];

describe("time", () => {
  test.each(UNITS)("a long run of %p", (unit) => {
    findNames(unit.repeat(1000));
    expect(cpuMs(() => findNames(unit.repeat(Math.ceil(12_000 / unit.length))))).toBeLessThan(50);
  });

  test.each(["a-1", "1 ", "的1", "src/a.ts "])("a thousand long texts of %p", async (unit) => {
    const entries = Array.from({ length: 1000 }, () => said(unit.repeat(Math.ceil(18_000 / unit.length))));
    const { longestMs } = await longestStep(() => enterAll(emptyLedger(), entries));
    expect(longestMs).toBeLessThan(50);
  });

  test("it ends when nobody waits for it", async () => {
    const signal = AbortSignal.abort(new Error("gone"));
    await expect(enterAll(emptyLedger(), [said("INV-1-2")], signal)).rejects.toThrow("gone");
  });
});
