// Random JSON in every spelling of the grammar: white space anywhere, unnecessary escapes, numbers that parsing would round,
// duplicate keys, names of built-in object members, unpaired surrogates.

import fc from "fast-check";

const space = fc.constantFrom("", "", "", " ", "\n", "\r\n", "\t", "  ");

const CHARACTERS = [
  "a",
  "é",
  "😀",
  "\u2028",
  "\u0085",
  "\uFEFF",
  "\x7f",
  "\u0000",
  '"',
  "\\",
  "/",
  "\n",
  "{",
  "}",
  "[",
  "]",
];
const SHORT: Readonly<Record<string, string>> = { '"': '\\"', "\\": "\\\\", "/": "\\/", "\n": "\\n" };

/** One character of a string, in any allowed spelling. */
const spelled = fc
  .tuple(fc.oneof(fc.constantFrom(...CHARACTERS, ",", ":", "\ud83d", "\ude00"), fc.string({ maxLength: 1 })), fc.nat(2))
  .map(([character, style]) => {
    const short = SHORT[character];
    if (style === 1 && short !== undefined) return short;
    const isPlain = character >= " " && character !== '"' && character !== "\\";
    if (style !== 2 && isPlain) return character;
    return [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`)
      .join("");
  });

const text = fc.array(spelled, { maxLength: 6 }).map((parts) => `"${parts.join("")}"`);

const number = fc.constantFrom("0", "-0", "1.0", "-1.5e-7", "1E+2", "1e400", "9007199254740993", "0.1e0", "-12");

/** Names with a meaning for objects, and ordinary names. There are few, so that keys are repeated. */
const key = fc.oneof(
  fc.constantFrom('"a"', '"a"', '"b"', '"model"', '"m\\u006fdel"', '"__proto__"', '"constructor"', '""', '"0"'),
  text,
);

const list = (open: string, items: readonly string[], close: string) => open + items.join(",") + close;

const { node, object } = fc.letrec<{ node: string; object: string; array: string }>((tie) => {
  const spaced = (inner: fc.Arbitrary<string>) => fc.tuple(space, inner, space).map((parts) => parts.join(""));
  const member = fc.tuple(spaced(key), spaced(tie("node"))).map(([name, value]) => `${name}:${value}`);
  return {
    node: fc.oneof(
      { depthSize: "medium", withCrossShrink: true },
      fc.constantFrom("null", "true", "false"),
      number,
      text,
      tie("array"),
      tie("object"),
    ),
    array: fc.oneof(
      fc.constant("[ ]"),
      fc.array(spaced(tie("node")), { maxLength: 4 }).map((items) => list("[", items, "]")),
    ),
    object: fc.oneof(
      fc.constant("{ }"),
      fc.array(member, { maxLength: 5 }).map((items) => list("{", items, "}")),
    ),
  };
});

/** The text of any JSON value. */
export const jsonText: fc.Arbitrary<string> = fc.tuple(space, node, space).map((parts) => parts.join(""));

/** The text of a JSON object. */
export const objectText: fc.Arbitrary<string> = fc.tuple(space, object, space).map((parts) => parts.join(""));

/** JSON in which a few characters, or the end, were removed, duplicated or added. */
export const damagedText: fc.Arbitrary<string> = fc
  .tuple(
    jsonText,
    fc.array(
      fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...CHARACTERS, ",", ":", "'", "-", "1", "e", "t", "u", "x")),
      {
        maxLength: 3,
      },
    ),
    fc.option(fc.nat(), { nil: undefined }),
  )
  .map(([whole, changes, end]) => {
    let json = whole;
    for (const [place, gone, put] of changes) {
      const at = place % (json.length + 1);
      json = json.slice(0, at) + put + json.slice(at + gone);
    }
    return end === undefined ? json : json.slice(0, end % (json.length + 1));
  });
