import { expect, test } from "bun:test";
import { createSlots } from "../../src/pages/slots.ts";

// At one of these moments the place has been handed over, but the receiver does not know it yet.
test.each([0, 1, 2, 3, 4, 5, 6])(
  "giving up %d microtasks after a place is free takes nobody else's",
  async (moment) => {
    const slots = createSlots(1);
    const none = new AbortController().signal;
    const first = Promise.withResolvers<void>();
    const stop = new AbortController();
    const ran: string[] = [];
    const all = [
      slots.run("a", none, async () => first.promise),
      slots.run("a", stop.signal, async () => undefined),
      slots.run("a", none, async () => void ran.push("third")),
      slots.run("a", none, async () => void ran.push("fourth")),
    ];
    for (const promise of all) promise.catch(() => undefined);
    first.resolve();
    for (let turn = 0; turn < moment; turn++) await Promise.resolve();
    stop.abort(new Error("gone"));
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
    expect(ran).toEqual(["third", "fourth"]);
  },
);

test("accounts take turns", async () => {
  const slots = createSlots(1);
  const none = new AbortController().signal;
  const ran: string[] = [];
  const run = (account: string, name: string) => slots.run(account, none, async () => void ran.push(name));
  await Promise.all([run("a", "a1"), run("a", "a2"), run("a", "a3"), run("b", "b1"), run("c", "c1")]);
  expect(ran).toEqual(["a1", "b1", "c1", "a2", "a3"]);
});
