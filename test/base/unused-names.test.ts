import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type NumberedForm, UnusedNames } from "../../src/base/unused-names.ts";
import { anyText } from "../support/any-text.ts";

/** The same by trying all numbers. */
function slowly(wanted: readonly string[], form: NumberedForm, reserved: ReadonlySet<string>): string[] {
  const taken = new Set<string>();
  return wanted.map((name) => {
    let given = name;
    for (let number = 2; taken.has(given) || (given !== name && reserved.has(given)); number++) {
      const end = form.before + number + (form.after ?? "");
      given =
        form.charsMax === undefined
          ? name + end
          : name.slice(0, form.charsMax - 4).slice(0, form.charsMax - end.length) + end;
    }
    taken.add(given);
    return given;
  });
}

describe("names that are given once", () => {
  test.each<[string, NumberedForm, readonly string[], readonly string[]]>([
    ["equal ones are numbered", { before: "_" }, ["a", "a", "b", "a"], ["a", "a_2", "b", "a_3"]],
    ["a number that is taken is passed over", { before: "_" }, ["a_2", "a", "a", "a"], ["a_2", "a", "a_3", "a_4"]],
    ["something may stand behind the number", { before: " (", after: ")" }, ["a", "a"], ["a", "a (2)"]],
    [
      "long ones make room for it",
      { before: "_", charsMax: 6 },
      ["abcdef", "abcdef", "abcxyz", "abxxxx"],
      ["abcdef", "ab_2", "abcxyz", "abxxxx"],
    ],
  ])("%s", (_, form, wanted, given) => {
    const names = new UnusedNames(form);
    expect(wanted.map((name) => names.take(name))).toEqual([...given]);
  });

  test("numbers of any length stay within the limit", () => {
    const names = new UnusedNames({ before: "_", charsMax: 6 });
    const given = Array.from({ length: 3000 }, () => names.take("abcdef"));
    expect([new Set(given).size, Math.max(...given.map((name) => name.length))]).toEqual([3000, 6]);
  });

  test("they are those that trying all numbers finds", () => {
    const alike = fc.constantFrom("a", "a_2", "a_3", "b", "b_2", "", "abcdefgh", "abcdefgx");
    const forms: NumberedForm[] = [{ before: "_" }, { before: " (", after: ")" }, { before: "_", charsMax: 8 }];
    fc.assert(
      fc.property(
        fc.array(fc.oneof(alike, anyText())),
        fc.array(alike),
        fc.constantFrom(...forms),
        (wanted, kept, form) => {
          const names = new UnusedNames(form, new Set(kept));
          expect(wanted.map((name) => names.take(name))).toEqual(slowly(wanted, form, new Set(kept)));
        },
      ),
    );
  });
});
