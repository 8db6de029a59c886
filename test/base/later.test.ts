import { expect, test } from "bun:test";
import { LATER, type Polled, PolledPromises, whenPolled } from "../../src/base/later.ts";

test("a polled value is awaited until it is there, however often there is nothing yet", async () => {
  const answers: Polled<string>[] = [LATER, LATER, "there"];
  const wakes: (() => void)[] = [];
  const value = whenPolled((wake) => {
    wakes.push(wake);
    return answers.shift() as Polled<string>;
  });
  wakes[0]?.();
  wakes[1]?.();
  expect(await value).toBe("there");
  const failing = whenPolled(() => {
    throw new Error("broken");
  });
  expect(failing).rejects.toThrow("broken");
});

test("promises are polled one at a time, and what they reject with is thrown once", async () => {
  const asked: PromiseWithResolvers<string>[] = [];
  const polled = new PolledPromises(() => {
    asked.push(Promise.withResolvers());
    return asked.at(-1)!.promise;
  });
  const ask = () => {
    const woken = Promise.withResolvers<void>();
    const value = polled.poll(woken.resolve);
    return { value, woken: woken.promise };
  };
  const first = ask();
  expect(first.value).toBe(LATER);
  // It is not asked for another while the first one is on its way.
  expect(ask().value).toBe(LATER);
  expect([asked.length, polled.isBusy]).toEqual([1, true]);
  asked[0]?.resolve("one");
  await first.woken;
  expect(ask().value).toBe("one");
  expect(polled.isBusy).toBe(false);
  const second = ask();
  asked[1]?.reject(new Error("broken"));
  await second.woken;
  expect(() => ask()).toThrow("broken");
  expect(polled.isBusy).toBe(false);
});
