import { expect, test } from "bun:test";
import { storeThrottle } from "../../src/accounts/stored-throttle.ts";
import { FakeClock } from "../../src/base/clock.ts";

const LIMIT = { failures: 3, windowMs: 1000 };

function fixture() {
  const clock = new FakeClock();
  const written = new Map<string, unknown>();
  const wrote = { next: Promise.withResolvers<void>() };
  const settings = {
    readSetting: async (name: string) => written.get(name),
    writeSetting: async (name: string, value: unknown) => {
      written.set(name, JSON.parse(JSON.stringify(value)));
      wrote.next.resolve();
    },
  };
  const errors: unknown[] = [];
  const open = () =>
    storeThrottle({ clock, settings, name: "kept", limit: LIMIT, failed: (error) => void errors.push(error) });
  return { clock, written, wrote, settings, errors, open };
}

test("what counted counts after a restart, until its time is over", async () => {
  const { clock, open } = fixture();
  const first = await open();
  for (let n = 0; n < 3; n++) expect(first.begin(["ann"]).allowed).toBe(true);
  expect(first.begin(["ann"]).allowed).toBe(false);
  await first.stop();
  const second = await open();
  expect(second.begin(["ann"])).toEqual({ allowed: false, retryAfterSeconds: 1 });
  expect(second.begin(["bob"]).allowed).toBe(true);
  clock.advance(1001);
  expect(second.begin(["ann"]).allowed).toBe(true);
  await second.stop();
});

test("counts of sign-in attempts are written before the program ends", async () => {
  const { wrote, open } = fixture();
  const first = await open();
  for (let n = 0; n < 3; n++) first.begin(["ann"]);
  await wrote.next.promise;
  expect((await open()).begin(["ann"]).allowed).toBe(false);
});

test("attempts that were taken back do not count, and no name is stored in plain text", async () => {
  const { written, open } = fixture();
  const first = await open();
  for (let n = 0; n < 3; n++) {
    const attempt = first.begin(["ann@x.example"]);
    if (n === 1 && attempt.allowed) attempt.uncount();
  }
  await first.stop();
  expect(JSON.stringify(written.get("kept"))).not.toContain("ann");
  expect((await open()).begin(["ann@x.example"]).allowed).toBe(true);
});

test.each([[undefined], [null], [7], [[]], [{ a: "x" }], [{ a: [1, "x"] }]])(
  "what was written as %j is nothing",
  async (value) => {
    const { written, open } = fixture();
    written.set("kept", value);
    expect((await open()).begin(["ann"]).allowed).toBe(true);
  },
);

test("a count that cannot be written is logged, and applies on this node", async () => {
  const { settings, errors, open } = fixture();
  settings.writeSetting = () => Promise.reject(new Error("disk full"));
  const first = await open();
  for (let n = 0; n < 3; n++) first.begin(["ann"]);
  await first.stop();
  expect(String(errors[0])).toContain("disk full");
  expect(first.begin(["ann"]).allowed).toBe(false);
});
