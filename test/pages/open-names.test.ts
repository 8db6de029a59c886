import { expect, test } from "bun:test";
import fc from "fast-check";
import { OpenNames } from "../../src/pages/dom/open-names.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";
import { cpuMs } from "../support/real-time.ts";

test("the names of open elements behave as a list whose first is the innermost", () => {
  const name = fc.constantFrom("b", "div", "p", "form");
  const change = fc.oneof(name, fc.constantFrom("end", "reset"));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
      const list: string[] = [];
      const names = new OpenNames();
      for (const one of changes) {
        if (one === "reset") list.length = names.length = 0;
        else if (one === "end") expect(names.shift()).toBe(list.shift());
        else {
          list.unshift(one);
          names.unshift(one);
        }
        expect([names.length, names[0]]).toEqual([list.length, list[0]]);
        for (const asked of ["b", "p", "none"])
          expect([names.indexOf(asked), names.includes(asked)]).toEqual([list.indexOf(asked), list.includes(asked)]);
      }
    }),
  );
});

test("a page of nothing but start tags takes little more time than one whose elements end", () => {
  const [open, closed] = ["<b>", "<b></b>"].map((tags) => {
    const html = tags.repeat(100_000);
    parsePage(html);
    return cpuMs(() => parsePage(html));
  }) as [number, number];
  expect(open).toBeLessThan(closed * 8);
});
