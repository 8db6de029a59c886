// Long runs of one sign, or of one word, hold the event loop up no longer than other text. An expression that can begin within such a
// run looks through it once for each place. Nor do many names that are alike. Texts of pages are in
// test/pages/extract-time.test.ts.

import { expect, test } from "bun:test";
import { FormScanner, formBoundary } from "../../src/base/form-scanner.ts";
import { repairJson } from "../../src/base/json-repair.ts";
import { nameGlob } from "../../src/base/name-glob.ts";
import { raisedText } from "../../src/base/raised-text.ts";
import { pageAt } from "../../src/dashboard/contract-pages.ts";
import { letterPrompt } from "../../src/decisions/backends/prompt.ts";
import { decisionFault } from "../../src/decisions/faults.ts";
import { createGuardrails, type Guardrail } from "../../src/gateway/stages/guardrails/guardrail.ts";
import { refusesReasoning } from "../../src/gateway/stages/reasoning/refused-reasoning.ts";
import { createAddressGuard } from "../../src/net/address-guard.ts";
import { largestOf } from "../../src/pages/content/tidy.ts";
import { readRobots } from "../../src/pages/robots/file.ts";
import { faultFromHttp, UpstreamFault } from "../../src/upstream/fault.ts";
import { codeOfWords } from "../../src/upstream/fault-words.ts";
import { chunksOf } from "../../src/web/extract/chunks.ts";
import { fitField, fittingOf } from "../../src/web/extract/fit.ts";
import { siftOrders } from "../../src/web/extract/injected.ts";
import { withoutKind } from "../../src/web/extract/names.ts";
import { readReply } from "../../src/web/extract/reply.ts";
import { thingsOf } from "../../src/web/extract/things.ts";
import { paragraphsOf } from "../../src/web/llmstxt/plain.ts";
import { typeOf } from "../../src/web/llmstxt/rank.ts";
import { writeFullText } from "../../src/web/llmstxt/write.ts";
import { leastMs, STEP_MS_MAX } from "../support/least-ms.ts";

const blanks = "\t".repeat(60_000);
const breaks = "\n".repeat(20_000);
/** What is read of the body of an error. */
const ERROR_CHARS = 60_000;

const criterion = `a${blanks}b`;
const question = { key: "q", type: "noul", instructions: "x", options: [{ label: "true", criterion }] } as const;
const guard = createAddressGuard({ allowPrivateNetworks: false, allowHosts: [], ports: [] }, async () => []);
const caller = { name: "a", account: { tier: "a" } } as never;
const [guardrail] = createGuardrails(
  [
    { name: "a", on: [], check: { kind: "pii", find: [] }, apply: { models: ["*a*a*a*b"], tiers: [], keys: [] } },
  ] as never,
  {} as never,
) as [Guardrail];
const refused = (message: string) => new UpstreamFault("bad_request", message, { status: 400 });
const fullText = (markdown: string) => {
  const note = { url: "https://a.example/", markdown } as never;
  return writeFullText({ name: "a", summary: "", introduction: "" }, [
    { title: "a", pages: [{ note, title: "a", description: "", isOwnDescription: true }] },
  ] as never);
};

/** A page's data may hold 20,000 values. */
const things = Array.from({ length: 10_000 }, () => ({ name: "a" }));
const alike = () =>
  Object.fromEntries(things.map((_, at) => [`a${at.toString(2).replace(/./g, (bit) => "-_"[Number(bit)]!)}`, 1]));

const WORK: readonly (readonly [string, () => unknown])[] = [
  ["blanks in a criterion", () => letterPrompt({ state: "x", question, order: [0] })],
  ["dots in a host name", () => guard.check(`http://a${".".repeat(120_000)}a/`).catch(() => undefined)],
  ["separators of lines in a robots.txt", () => readRobots("http://a.example/", "\u2028".repeat(16_000), "a")],
  ["words in an address that could stand twice", () => typeOf(`https://a.example/dpa-${"service-and-0_".repeat(23)}.`)],
  ["marks of notes", () => raisedText({ tag: "sup", text: `${"[a] ".repeat(23)}x`, before: "", after: "" })],
  [
    "letters before a raised number",
    () => raisedText({ tag: "sup", text: "1", before: `${"a".repeat(60_000)}*`, after: "" }),
  ],
  ["line ends behind a fence", () => readReply(`\`\`\`${breaks}x`, null)],
  ["fences", () => readReply("```\n".repeat(20_000), null)],
  ["lines without a sentence", () => siftOrders(`${"a ".repeat(30_000)}\u2028`)],
  ["blanks and hyphens in the second line", () => chunksOf(`a|b\n${" ".repeat(3000)}${"-".repeat(3000)}x`, 500)],
  ["a heading of many parts", () => chunksOf(`# ${"a-".repeat(150_000)}`, 50)],
  ["a fence that is all of a page", () => paragraphsOf("~".repeat(60_000))],
  ["blanks in a heading", () => fullText(`# a${"\u00a0".repeat(20_000)}b`)],
  ["blanks before a heading of two lines", () => fullText(`# ${"\u00a0".repeat(60_000)}b\u2028c`)],
  ["a fence of many signs", () => fullText(`x\n${"~".repeat(60_000)}\u2028`)],
  ["an error of one word", () => faultFromHttp(404, { message: `file ${"a".repeat(ERROR_CHARS)}` }, new Headers())],
  [
    "an error that names questions",
    () =>
      decisionFault(422, JSON.stringify({ detail: "question must have e".repeat(ERROR_CHARS / 20) }), new Headers()),
  ],
  [
    "an error about tokens",
    () => codeOfWords({ code: "invalid_request", message: "input token count ".repeat(ERROR_CHARS) }),
  ],
  ["an error about encrypted content", () => refusesReasoning(refused("encrypted content ".repeat(ERROR_CHARS)))],
  ["a header of a part of a form", () => formPart(`${"\t".repeat(8000)}\0`)],
  ["candidates of a picture", () => largestOf(`${"a".repeat(60_000)} b`)],
  ["digits of a number", () => repairJson(`[${"1".repeat(60_000)}x`)],
  ["beginnings of a boundary", () => formType(`multipart/form-data;${"boundary==".repeat(6000)}"`)],
  ["a model's name that a guardrail nearly names", () => guardrail.applies({ caller, model: "a".repeat(60_000) })],
  ["a tool's name that a pattern nearly names", () => nameGlob("*a*a*a*b", "").test("a".repeat(60_000))],
  ["a field of many letters", () => withoutKind("a".repeat(60_000), ["product"])],
  ["things of one name", () => thingsOf({ jsonLd: things, microdata: [] } as never)],
  [
    "members of nearly one name",
    () =>
      fitField(
        [alike()],
        "a",
        { type: "number" },
        fittingOf({} as never, (value) => value),
      ),
  ],
  ["slashes in a path", () => pageAt(`${"/".repeat(60_000)}a`)],
];

function formType(type: string): void {
  expect(() => formBoundary(type)).toThrow();
}

function formPart(value: string): void {
  const scanner = new FormScanner(formBoundary("multipart/form-data; boundary=b"), "model");
  try {
    scanner.push(Buffer.from(`--b\r\nx:${value}\r\n\r\n`), []);
  } catch {
    // It is refused either way.
  }
}

test.each(WORK)(
  "%s hold the event loop up no longer than other text",
  (_, work) => expect(leastMs(work)).toBeLessThan(STEP_MS_MAX),
  60_000,
);

test("what is written in a fence is found whatever stands around it", () => {
  const answer = { value: { a: 1 }, quotes: {} };
  const json = JSON.stringify(answer, null, 1);
  for (const text of [
    json,
    `\`\`\`json\n${json}\n\`\`\``,
    `Here:\n\`\`\`\n\n${json}\n\n\`\`\`\nand {more}`,
    `x ${json} y`,
  ])
    expect(readReply(text, null)).toMatchObject({ value: { a: 1 } });
  expect(readReply(`{a}\n\`\`\`\n${json}`, null)).toBeString();
});

test.each([
  ["Vector store vs_1 was not found.", "bad_request"],
  ["No cached content has this name.", "bad_request"],
  ["The file /v1/files/x is gone.", "bad_request"],
  ["No route for /v1/files/x.", "model_missing"],
])("an error names a thing in its words and not in its paths: %s", (message, kind) => {
  expect(faultFromHttp(404, { message }, new Headers()).kind).toBe(kind as never);
});

test("a text before a separator of lines is not lost", () => {
  expect(siftOrders("one\u2028two. three")).toEqual({ text: "one\u2028two. three", orders: [] });
});

test("legal pages are told by their names", () => {
  const types = (names: string) => names.split(" ").map((name) => typeOf(`https://a.example/x/y/${name}`));
  const legal =
    "terms privacy-policy Terms-of-Service terms_of_use-and-conditions cookie-settings.html terms-of-a_policy-center";
  expect(new Set(types(legal))).toEqual(new Set(["secondary"]));
  expect(types("terms-x privacyhub termsofuse")).not.toContain("secondary");
});

test("a pattern of names matches what its text says", () => {
  const cases: readonly (readonly [pattern: string, name: string, isMatched: boolean])[] = [
    ["a", "a", true],
    ["a", "ab", false],
    ["*", "", true],
    ["a*", "a", true],
    ["a*a", "a", false],
    ["*a*b", "aab", true],
    ["*ab*ab", "ab", false],
    ["*ab*ab", "xabab", true],
    ["a**b", "a.b", true],
    ["a.*", "ab", false],
    ["1*2*3", "1223", true],
    ["A*", "a1", true],
    ["a*b", "a\nb", true],
    ["gpt-*-mini", "gpt-mini", false],
  ];
  for (const [pattern, name, isMatched] of cases) {
    expect([pattern, name, nameGlob(pattern, "is").test(name)]).toEqual([pattern, name, isMatched]);
    expect(nameGlob(pattern, "").test(name)).toBe(isMatched && !/[A\n]/.test(pattern + name));
  }
});

test("the boundary of a form is the first that goes to the end", () => {
  const boundaries = [
    "boundary=a",
    'x=y; boundary="a"',
    "boundary=b;boundary=a ",
    'boundary=-boundary="a"',
    "x-boundary=a",
  ];
  for (const boundary of boundaries) expect(formBoundary(`Multipart/form-data ; ${boundary}`)).toBe("a");
  expect(formBoundary("multipart/form-data;boundary=b-boundary=a")).toBe("b-boundary=a");
});
