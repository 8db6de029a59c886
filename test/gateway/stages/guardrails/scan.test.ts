// The checks of texts: what they find and what not, and that the parts of a stream give what its whole text gives.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { HELD_CHARS_MAX, type TextCheck } from "../../../../src/gateway/stages/guardrails/checks/check.ts";
import { patternCheck } from "../../../../src/gateway/stages/guardrails/checks/pattern.ts";
import { PII_CHECKS } from "../../../../src/gateway/stages/guardrails/checks/pii/index.ts";
import { wordsCheck } from "../../../../src/gateway/stages/guardrails/checks/words.ts";
import { JsonFlow } from "../../../../src/gateway/stages/guardrails/json-flow.ts";
import { Placeholders } from "../../../../src/gateway/stages/guardrails/placeholders.ts";
import { Scan, scanned, type TextFlow } from "../../../../src/gateway/stages/guardrails/scan.ts";
import { mapTexts } from "../../../../src/gateway/stages/guardrails/texts.ts";

const PII = Object.values(PII_CHECKS).flat();
const mark = (_: string, label: string) => `<${label}>`;

/** Texts, and what becomes of them. */
const FOUND: readonly (readonly [string, string])[] = [
  ["Write to ada@example.com.", "Write to <EMAIL>."],
  ["<jörg.müller+x@mail.exämple.de>, or a_b@c-d.co.uk!", "<<EMAIL>>, or <EMAIL>!"],
  ["请联系ada@example.com谢谢", "请联系<EMAIL>谢谢"],
  ["pkg@1.2.3, @scope/name, me@localhost", "pkg@1.2.3, @scope/name, me@localhost"],
  ["Card 4111 1111 1111 1111, exp 12/27", "Card <CARD>, exp 12/27"],
  ["4111111111111111", "<CARD>"],
  ["3782-822463-10005 and 4111-1111-1111-1111 123", "<CARD> and <CARD> 123"],
  ["4111 1111 1111 1112 or 1234567890123456", "4111 1111 1111 1112 or 1234567890123456"],
  ["IBAN DE89 3704 0044 0532 0130 00 please", "IBAN <IBAN> please"],
  ["GB29NWBK60161331926819,fr1420041010050500013m02606", "<IBAN>,<IBAN>"],
  ["DE89 3704 0044 0532 0130 01", "DE89 3704 0044 0532 0130 01"],
  ["from 203.0.113.7:8080 to 2001:db8::1 and fe80::1ff:fe23:4567:890a.", "from <IP>:8080 to <IP> and <IP>."],
  [
    "version 1.2.3.4, Agent/120.0.0.0, 127.0.0.1, 1.2.3.4.5, 12:30:45",
    "version 1.2.3.4, Agent/120.0.0.0, 127.0.0.1, 1.2.3.4.5, 12:30:45",
  ],
  ["Call +49 30 1234567 or (030) 123 4567.", "Call <PHONE> or <PHONE>."],
  ["555-234-5678, 06 12 34 56 78, 03-1234-5678", "<PHONE>, <PHONE>, <PHONE>"],
  ["Tel.: 1234567; phone 6123456", "Tel.: <PHONE>; phone <PHONE>"],
  [
    "on 2024-05-17 at 17.05.2024, order 20240517123, 1 234 567 rows",
    "on 2024-05-17 at 17.05.2024, order 20240517123, 1 234 567 rows",
  ],
  ["key=sk-proj-abcdefghijklmnopqrst0123 done", "key=<SECRET> done"],
  ["AKIAIOSFODNN7EXAMPLE and ghp_abcdefghijklmnopqrstuvwxyz0123456789", "<SECRET> and <SECRET>"],
  ["risk-free-and-very-long-names-of-things, sk-learn", "risk-free-and-very-long-names-of-things, sk-learn"],
];

test.each(FOUND)("personal data and secrets are found, and nothing else: %s", (text, expected) => {
  expect(scanned(new Scan(PII, mark), text)).toBe(expected);
});

/** Other ways of looking through texts, with a text for each. */
const FLOWS: readonly (readonly [name: string, create: () => TextFlow, texts: readonly string[], marks: string])[] = [
  ["pii", () => new Scan(PII, mark), FOUND.map(([text]) => text), "<>"],
  [
    "pattern",
    () => new Scan([patternCheck("N", "\\bno[.]? ?\\d{3,6}\\b|ab+c{2}"), patternCheck("M", "(?i)secret$")], mark),
    ["No. 12, no. 1234, no 1234567, no.123. abbbcc abcabcc", "a secret here, and a SECRET"],
    "<>",
  ],
  [
    "words",
    () => new Scan([wordsCheck("W", ["ass", "asset", "set up", "he", "she", "ΟΔΟΣ", "日本"])], mark),
    ["An ASS and assets; an asset, set  up, set up.", "she said he the hers", "οδος Οδός οδοσ", "私は日本人"],
    "<>",
  ],
  [
    "restored",
    () => {
      const placeholders = new Placeholders(["EMAIL", "MY_NAME"]);
      placeholders.of("a@b.co", "EMAIL", true);
      placeholders.of("Ada", "MY_NAME", true);
      const { check, restored } = placeholders.check();
      return new Scan([check], restored);
    },
    [
      "[EMAIL_1], [email_1], [ EMAIL 1 ], EMAIL_1, [EMAIL_1 [MY NAME_1] my_name_1 [EMAIL\\_1]",
      "[EMAIL_12], [EMAIL_2], email 1, XEMAIL_1, [EMAIL",
    ],
    "@",
  ],
  [
    "json",
    () => new JsonFlow(() => new Scan(PII, mark)),
    ['{"to":"\\nada@example.com","n":4111111111111111,"s":"a\\u0040b \\"x\\u0040y.de\\"","u":"\\ud83d\\ude00"}'],
    "<>",
  ],
];

test("what was written becomes the value again, and nothing else", () => {
  const [, create, [text = "", other = ""] = []] = FLOWS.find(([name]) => name === "restored")!;
  expect(scanned(create(), text)).toBe(
    "a@b.co, a@b.co, a@b.co, a@b.co, a@b.co [Ada] Ada a@b.co".replace("[Ada]", "Ada"),
  );
  expect(scanned(create(), other)).toBe(other);
});

test("values in JSON are found behind escapes, and it stays JSON", () => {
  const [, create, [text = ""] = []] = FLOWS.find(([name]) => name === "json")!;
  expect(JSON.parse(scanned(create(), text))).toEqual({ to: "\n<EMAIL>", n: "<CARD>", s: 'a@b "<EMAIL>"', u: "😀" });
});

test.each([
  ["{to: ada@example.com}", '{to: "<EMAIL>"}'],
  ["ada@example.com", '"<EMAIL>"'],
  ["[true,null,-1.5e3]", "[true,null,-1.5e3]"],
])("what stands outside of the strings of a JSON text is looked through: %s", (text, expected) => {
  expect(scanned(new JsonFlow(() => new Scan(PII, mark)), text)).toBe(expected);
});

test("a string of a JSON text is one text, however it is escaped", () => {
  const seen: string[] = [];
  const push = (text: string) => {
    seen.push(text);
    return text;
  };
  const flow = { push, end: () => "" };
  const text = "ada@example.com ☎";
  const escaped = [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  expect(JSON.parse(scanned(new JsonFlow(() => flow), `"${escaped}\\n"`))).toBe(`${text}\n`);
  expect(seen).toEqual([`${text}\n`]);
});

const BYTES = "data:image/png;base64,iVBORw0KGgo=";
const READ: readonly (readonly [name: string, value: unknown, texts: readonly string[]])[] = [
  ["a text that only begins like a URL of bytes", { content: "data: ada" }, ["data: ada"]],
  ["a URL of text", { content: "data:,ada" }, ["data:,ada"]],
  ["bytes", { url: BYTES }, []],
  ["bytes with a text behind them", { content: `${BYTES} ada` }, [`${BYTES} ada`]],
  ["a schema under a name of marks", { format: { type: "json_schema", description: "ada" } }, ["ada"]],
  [
    "properties with names of marks",
    { name: { type: "string", description: "ada" }, id: { default: "bob" } },
    ["ada", "bob"],
  ],
  ["marks", { type: "text", role: "user", required: ["a"], cache_control: { type: "ephemeral", ttl: "5m" } }, []],
];

test.each(READ)("of a request is read: %s", (_name, value, texts) => {
  const read: string[] = [];
  const note = (text: string) => {
    read.push(text);
    return text;
  };
  mapTexts(value, { text: note, json: note, unread: () => undefined, leftOut: () => undefined });
  expect(read).toEqual([...texts]);
});

function inParts(flow: TextFlow, parts: readonly string[]): { text: string; held: number } {
  let [text, taken, held] = ["", 0, 0];
  for (const part of parts) {
    text += flow.push(part);
    taken += part.length;
    held = Math.max(held, taken - text.length);
  }
  return { text: text + flow.end(), held };
}

for (const [name, create, texts] of FLOWS) {
  test(`parts give what the whole gives: ${name}`, () => {
    for (const text of texts) {
      const whole = scanned(create(), text);
      for (let first = 0; first <= text.length; first++) {
        for (let second = first; second <= Math.min(text.length, first + 40); second++) {
          const parts = [text.slice(0, first), text.slice(first, second), text.slice(second)];
          expect(inParts(create(), parts).text, JSON.stringify(parts)).toBe(whole);
        }
      }
      expect(inParts(create(), [...text]).text).toBe(whole);
    }
  });
}

test("parts of long texts give what the whole gives, and little is held back", () => {
  const pieces = [
    ...FOUND.map(([text]) => text),
    "x".repeat(300),
    "1234 ".repeat(60),
    "a.b@".repeat(80),
    "日本".repeat(99),
  ];
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 12 }),
      (chosen, sizes) => {
        const text = chosen.join(" ");
        const parts: string[] = [];
        for (let at = 0, turn = 0; at < text.length; turn++) {
          const size = sizes[turn % sizes.length]!;
          parts.push(text.slice(at, at + size));
          at += size;
        }
        const { text: out } = inParts(new Scan(PII, mark), parts);
        expect(out).toBe(scanned(new Scan(PII, mark), text));
        const { held } = inParts(new Scan(PII, (value) => value), parts);
        expect(held).toBeLessThanOrEqual(HELD_CHARS_MAX + 90);
      },
    ),
    { numRuns: 150 },
  );
});

test("text that cannot begin anything is not held back", () => {
  for (const text of ["Hello there, this is a plain sentence. ", "Ein Satz mit Zahlen, 12 und 7; und mehr! "]) {
    expect(new Scan(PII, mark).push(text)).toBe(text);
  }
});

test("no check has matches longer than what may be held back, unless it reads the whole text", () => {
  const checks: TextCheck[] = [
    ...PII,
    patternCheck("A", "a{1,255}"),
    patternCheck("B", "a{1,256}"),
    patternCheck("C", "a+"),
  ];
  expect(checks.map(({ longest }) => longest).filter((longest) => longest > HELD_CHARS_MAX)).toEqual([
    Infinity,
    Infinity,
  ]);
});
