import { expect, test } from "bun:test";
import { lazily } from "../../src/base/lazily.ts";

test("a value is made at the first call, once", () => {
  let made = 0;
  const value = lazily(() => ({ number: ++made }));
  expect(made).toBe(0);
  expect(value()).toBe(value());
  expect(made).toBe(1);
});

test("a failure is not kept", () => {
  let calls = 0;
  const value = lazily(() => {
    if (++calls === 1) throw new Error("not yet");
    return calls;
  });
  expect(value).toThrow("not yet");
  expect(value()).toBe(2);
});

test("asking whether a value was made does not make it", () => {
  const value = lazily(() => "made");
  expect(value.ifMade()).toBeUndefined();
  value();
  expect(value.ifMade()).toBe("made");
});
