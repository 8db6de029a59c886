import { expect, test } from "bun:test";
import { withFrames } from "../../src/pages/browser/frames.ts";

const frame = (number: number) => `<iframe src="/f" data-frame-number="${number}"></iframe>`;

test("each frame's body is at the position of the frame", () =>
  expect(
    withFrames(
      `<p>a</p>${frame(0)}<p>b</p>${frame(1)}${frame(2)}`,
      new Map([
        ["0", "zero"],
        ["2", "two $& 2"],
      ]),
    ),
  ).toBe(`<p>a</p><section>zero</section><p>b</p>${frame(1)}<section>two $& 2</section>`));

test.each(['<iframe data-frame-number="0">', "<iframe "])(
  "the time for a page full of %s is linear in its length",
  (part) => {
    // Quadratic work would take minutes at this length.
    const page = part.repeat(200_000);
    expect(withFrames(page, new Map([["0", "body"]]))).toBe(page);
  },
);
