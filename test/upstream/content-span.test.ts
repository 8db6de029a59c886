// The content of a chat chunk is found by its name where that stands once, and by a walk through the chunk elsewhere.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { contentSpan } from "../../src/upstream/dialects/relay-frames.ts";
import { anyText } from "../support/any-text.ts";

const chunk = (delta: string, { before = "", after = "" } = {}) =>
  `{${before}"choices":[{"index":0,"delta":${delta}}]${after}}`;

test.each<[string, string | undefined]>([
  [chunk('{"content":"Hi"}'), "Hi"],
  [chunk('{ "content" : "a\\"}b" }'), 'a\\"}b'],
  [chunk('{"content":"\\u0041"}'), "\\u0041"],
  [chunk('{"c\\u006fntent":"Hi"}'), "Hi"],
  [chunk('{"c\\u006fntent":"Hi"}', { before: '"object":"content",' }), "Hi"],
  [chunk('{"c\\u006fntent":"Hi"}', { after: ',"x":{"content":"no"}' }), "Hi"],
  [chunk('{"content":"Hi"}', { before: '"x":{"content":"no"},' }), "Hi"],
  [chunk('{"content":"the \\"content\\": \\"no\\""}'), 'the \\"content\\": \\"no\\"'],
  [chunk('{"role":"assistant"}'), undefined],
])("the content of %s", (data, text) => {
  const span = contentSpan(data);
  expect(span && data.slice(span.start, span.end)).toBe(text);
});

test("every text is found, whatever stands beside it", () => {
  const name = fc.constantFrom("content", "id", "object", "x");
  const text = fc.oneof(anyText(), fc.constantFrom("content", '"content":"no"', "\u00e9\n"));
  const members = fc.dictionary(name, fc.oneof(text, fc.dictionary(name, text)));
  fc.assert(
    fc.property(members, text, members, fc.boolean(), (before, content, after, isEscaped) => {
      const plain = JSON.stringify({ ...before, choices: [{ index: 0, delta: { content } }], ...after });
      const data = isEscaped ? plain.replaceAll("\u00e9", "\\u00e9") : plain;
      const span = contentSpan(data);
      expect(JSON.parse(`"${data.slice(span?.start, span?.end)}"`)).toBe(content);
    }),
  );
});
