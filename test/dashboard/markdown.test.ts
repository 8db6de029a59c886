// Untrusted Markdown becomes tokens in bounded time, even if it is made to keep the lexer busy. Also checks that the
// playground's formats write conversations that the API accepts.

import { expect, test } from "bun:test";
import { NO_REPLY, SETTINGS, SettingsProblem } from "../../src/dashboard/ui/chat/conversation.ts";
import { CHAT_FORMATS, StreamFailure } from "../../src/dashboard/ui/chat/formats.ts";
import { markdownTokens } from "../../src/dashboard/ui/parts/markdown-tokens.ts";

const CHARS = 100_000;
const fill = (text: string) => text.repeat(Math.ceil(CHARS / text.length)).slice(0, CHARS);

/** Parsed as one text, each of these took seconds or minutes, or exceeded the stack. */
const HOSTILE: Readonly<Record<string, string>> = {
  brackets: fill("["),
  emphasis: fill("_a"),
  stars: fill("*a "),
  backticks: Array.from({ length: 440 }, (_, n) => "`".repeat(n)).join(" "),
  quotes: fill("> "),
  "quotes on many lines": fill(`${"> ".repeat(15)}x\n`),
  lists: fill("- "),
  "lists by their indentation": Array.from({ length: 400 }, (_, n) => `${" ".repeat(n)}- x`).join("\n"),
  images: fill("!["),
  "short paragraphs": fill(`${"_a".repeat(1990)}\n\n`),
  "a wide table": `${fill("|a").slice(0, 9000)}\n${"|-".repeat(4500)}\n`,
};

test.each(Object.entries(HOSTILE))("%s end", (_name, text) => {
  const tokens = markdownTokens(text);
  if (tokens !== undefined) expect(tokens.map(({ raw }) => raw).join("").length).toBeLessThanOrEqual(text.length);
});

test("what authors write is understood", () => {
  const tokens = markdownTokens("# Head\r\n\r\nA **word**.\n\n- one\n- two\n\n> quoted\n\n```js\nx\n```\n") ?? [];
  expect(tokens.filter(({ type }) => type !== "space").map(({ type }) => type)).toEqual([
    "heading",
    "paragraph",
    "list",
    "blockquote",
    "code",
  ]);
  expect(markdownTokens("a".repeat(20_001))).toBeUndefined();
});

test.each(CHAT_FORMATS.map((format) => [format.slug, format] as const))("%s tells a broken stream", (_slug, format) => {
  const broken = { type: "error", error: { message: "gone", code: "provider_stream_interrupted" } };
  expect(() => format.read(NO_REPLY, broken)).toThrow(StreamFailure);
  const wrong = { ...SETTINGS, model: "m", tools: "[{}]" };
  expect(() => format.body(wrong, [])).toThrow(SettingsProblem);
  expect(() => format.body({ ...SETTINGS, shape: "json_schema", schema: "[]" }, [])).toThrow(SettingsProblem);
});

test("tools are taken as each format's users write them", () => {
  const [chat] = CHAT_FORMATS;
  const parameters = { type: "object", properties: { a: {} } };
  for (const tools of [
    [{ name: "t", parameters }],
    { name: "t", input_schema: parameters },
    [{ type: "function", function: { name: "t", parameters } }],
  ]) {
    const body = chat.body({ ...SETTINGS, tools: JSON.stringify(tools) }, []);
    expect(body["tools"]).toEqual([{ type: "function", function: { name: "t", parameters } }]);
  }
});
