// The scanner of forms gives the same result however the bytes are split, and refuses whatever two parsers could read
// differently.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ApiError } from "../../src/base/errors.ts";
import { FormScanner, fieldPart, formBoundary } from "../../src/base/form-scanner.ts";

const B = "b0undary";
const part = (headers: string, content: string) => `--${B}\r\n${headers}\r\n\r\n${content}\r\n`;
const field = (name: string, value: string) => part(`Content-Disposition: form-data; name="${name}"`, value);
const file = (name: string, content: string) =>
  part(`Content-Disposition: form-data; name="${name}"; filename="a.wav"\r\nContent-Type: audio/wav`, content);
const END = `--${B}--\r\n`;

function scan(text: string, cuts: readonly number[] = []) {
  const heard: Uint8Array[] = [];
  const scanner = new FormScanner(B, "model", (bytes) => heard.push(bytes));
  const bytes = Buffer.from(text);
  const out: Uint8Array[] = [];
  let from = 0;
  for (const to of [...[...cuts].sort((a, b) => a - b), bytes.length]) {
    scanner.push(bytes.subarray(from, to), out);
    from = to;
  }
  scanner.end();
  const { fields, files, withheldBytes } = scanner;
  return {
    ...{ fields: Object.fromEntries(fields), files, withheldBytes },
    ...{ out: Buffer.concat(out).toString(), heard: Buffer.concat(heard).toString() },
  };
}

test("fields are known, the withheld one does not go on, files pass", () => {
  const model = field("model", "m");
  const rest = [field("language", "de"), file("file", "RI\r\n--b0undar\r\nFF"), field("include[]", "logprobs")];
  const read = scan([rest[0], model, rest[1], rest[2], END].join(""));
  expect(read).toEqual({
    fields: { language: ["de"], model: ["m"], "include[]": ["logprobs"] },
    files: ["file"],
    withheldBytes: model.length,
    out: [...rest, END].join(""),
    heard: "RI\r\n--b0undar\r\nFF",
  });
});

test("any cut of the bytes gives the same", () => {
  const content = fc.array(fc.constantFrom("a", "\r", "\n", "\r\n", "--", "-", `--${B.slice(0, -1)}`, "ü"), {
    maxLength: 30,
  });
  const forms = fc.record({
    ...{ content: content.map((parts) => parts.join("")), value: content.map((parts) => parts.join("")) },
    ...{ cuts: fc.array(fc.nat(400), { maxLength: 12 }), endsBare: fc.boolean() },
  });
  fc.assert(
    fc.property(forms, ({ content: given, value, cuts, endsBare }) => {
      const form = [field("prompt", value), field("model", "m"), file("file", given), endsBare ? END.trimEnd() : END];
      const text = form.join("");
      const inside = cuts.filter((cut) => cut <= Buffer.byteLength(text));
      const read = scan(text, inside);
      expect(read).toEqual(scan(text));
      expect(read.heard).toBe(given);
      expect(read.out).toBe([form[0], form[2], form[3]].join(""));
      expect(read.fields["prompt"]).toEqual([value]);
    }),
  );
});

describe("refused", () => {
  const good = field("model", "m") + file("file", "RIFF");
  const long = "x".repeat(256 * 1024);
  test.each([
    ["text before the first boundary", `hello\r\n${good}${END}`],
    ["text after the last one", `${good}${END}--${B}\r\n`],
    ["no end", good],
    ["a cut end", `${good}--${B}-`],
    ["the boundary within a file", `${file("file", `RI--${B}FF`)}${END}`],
    ["the boundary after a bare line feed", `${file("file", `RI\n--${B}\nFF`)}${END}`],
    ["a longer word that begins as the boundary does", `${file("file", `RI\r\n--${B}x\r\nFF`)}${END}`],
    ["a second model", `${good}${field("model", "other")}${END}`],
    ["a model that is a file", `${file("model", "m")}${END}`],
    ["two names", `${part(`Content-Disposition: form-data; name="a"; name="model"`, "m")}${END}`],
    [
      "two dispositions",
      `${part(`Content-Disposition: form-data; name="a"\r\ncontent-disposition: form-data; name="model"`, "m")}${END}`,
    ],
    ["a folded header", `${part(`Content-Disposition: form-data;\r\n name="model"`, "m")}${END}`],
    ["an escaped name", `${part(`Content-Disposition: form-data; name="mod\\el"`, "m")}${END}`],
    ["an encoded name", `${part(`Content-Disposition: form-data; name*=utf-8''model`, "m")}${END}`],
    ["no name", `${part("Content-Type: text/plain", "m")}${END}`],
    [
      "a coding of its own",
      `${part(`Content-Disposition: form-data; name="model"\r\nContent-Transfer-Encoding: base64`, "bQ==")}${END}`,
    ],
    ["headers without end", `--${B}\r\nX: ${"y".repeat(9000)}`],
    ["a header that is none", `${part(`Content-Disposition: form-data; name="a"\r\nnonsense`, "m")}${END}`],
  ])("%s: 400", (_name, text) => {
    expect(() => scan(text)).toThrow(ApiError);
    try {
      scan(text);
    } catch (error) {
      expect((error as ApiError).status).toBe(400);
    }
  });

  test.each([
    ["a field at the limit", field("prompt", long), false],
    ["a field beyond it", field("prompt", `${long}x`), true],
    ["fields at the limit of all", field("a", long).repeat(4), false],
    ["fields beyond the limit of all", field("a", long).repeat(4) + field("b", "x"), true],
    ["200 parts", field("a", "x").repeat(200), false],
    ["201 parts", field("a", "x").repeat(201), true],
  ])("%s", (_name, text, isRefused) => {
    const read = () => scan(text + END);
    if (!isRefused) expect(read).not.toThrow();
    else expect(read).toThrow(expect.objectContaining({ apiCode: "request_too_large" }) as unknown as Error);
  });
});

test.each([
  ["multipart/form-data; boundary=abc", "abc"],
  ['multipart/form-data; boundary="a b"', undefined],
  ['Multipart/Form-Data; charset=utf-8; boundary="a=b"', "a=b"],
  ["multipart/form-data", undefined],
  ["multipart/form-data; boundary=", undefined],
  ["application/json", undefined],
  [`multipart/form-data; boundary=${"x".repeat(71)}`, undefined],
])("the boundary that the content type %s names is found, or the type is refused", (type, boundary) => {
  if (boundary === undefined) expect(() => formBoundary(type)).toThrow(ApiError);
  else expect(formBoundary(type)).toBe(boundary);
});

test("a field that is put in front is read as every other", () => {
  expect(scan(fieldPart(B, "model", "grün").toString() + file("file", "x") + END).fields["model"]).toEqual(["grün"]);
});
