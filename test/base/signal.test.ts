import { expect, test } from "bun:test";
import { createSignal } from "../../src/base/signal.ts";

test("a signal reaches every listener, in the order in which they came, each time", () => {
  const signal = createSignal();
  const heard: string[] = [];
  signal.fire();
  signal.listen(() => heard.push("a"));
  signal.listen(() => heard.push("b"));
  signal.fire();
  signal.fire();
  expect(heard).toEqual(["a", "b", "a", "b"]);
});
