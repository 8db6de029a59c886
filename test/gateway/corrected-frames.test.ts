// The members of a complete answer that are corrected within the frames of its stream.

import { expect, test } from "bun:test";
import { correctedFrames } from "../../src/gateway/centre/answer.ts";

const response = (store: boolean, text: string) => JSON.stringify({ response: { store, text } });

test.each(["plain", "\u2028", "a\u2029}", "\u0085 é", '"} data: {'])("an answer with %j in it is corrected", (text) => {
  const frames = (store: boolean, end: string) =>
    ["event: response.completed", `data: ${response(store, text)}`, "", `data:${response(store, text)}`, "", ""].join(
      end,
    );
  for (const end of ["\n", "\r\n", "\r"]) {
    expect(correctedFrames(frames(true, end), { store: false })).toBe(frames(false, end));
  }
});

test("other lines stay as they are", () => {
  const text = `: data: ${response(true, "a")}\ndata: [DONE]\n\ndata: {"type":"x"}\u2028data: ${response(true, "b")}\n\n`;
  expect(correctedFrames(text, { store: false })).toBe(text);
});
