// Keys are looked up once and cached. They are used synchronously, and never after an invalidation.

import { expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import type { Caller } from "../../src/gateway/admission/caller.ts";
import { createKeyAuthenticator } from "../../src/http/key-authenticator.ts";
import { UNLIMITED } from "../../src/store/access/key-rows.ts";

const CALLER: Caller = {
  ...UNLIMITED,
  keyId: "k",
  accountId: "a",
  account: { tier: "free", trialEndsAtMs: null, subscriptionUntilMs: null, emailVerified: true, admin: false },
};

const ask = (key = "sk-one") => new Request("http://x/v1/chat", { headers: { authorization: `Bearer ${key}` } });

function setUp() {
  const clock = new FakeClock();
  const lookups: PromiseWithResolvers<Caller | undefined>[] = [];
  let counter = 0;
  const guard = createKeyAuthenticator<Caller>({
    findLiveKey() {
      const lookup = Promise.withResolvers<Caller | undefined>();
      lookups.push(lookup);
      return lookup.promise;
    },
    changeCounter: () => counter,
    clock,
    takesXApiKey: () => false,
  });
  const learn = async (caller: Caller) => {
    const asked = guard.authenticate(ask());
    lookups.at(-1)?.resolve(caller);
    return asked;
  };
  return { guard, clock, lookups, learn, changed: () => (counter += 1) };
}

test("a known key is answered at once, and looked up no more", async () => {
  const { guard, lookups, learn } = setUp();
  expect(await learn(CALLER)).toEqual(CALLER);
  expect(guard.authenticate(ask())).toEqual(CALLER);
  expect(lookups).toHaveLength(1);
});

test("an unknown key is refused and looked up again; text that cannot be a key is not looked up", async () => {
  const { guard, lookups } = setUp();
  const asked = guard.authenticate(ask());
  lookups[0]?.resolve(undefined);
  await expect(asked).rejects.toThrow("not valid");
  const again = guard.authenticate(ask());
  lookups[1]?.resolve(CALLER);
  expect(await again).toEqual(CALLER);
  expect(() => guard.authenticate(ask("eyJhbGciOi"))).toThrow("not valid");
  expect(lookups).toHaveLength(2);
});

test("a key that expires is refused from then on, cached or not", async () => {
  const { guard, clock, learn } = setUp();
  await learn({ ...CALLER, expiresAtMs: clock.now() + 1 });
  clock.advance(1);
  expect(() => guard.authenticate(ask())).toThrow("not valid");
});

test.each(["in this process", "by another"])(
  "a key that is revoked %s while it is looked up is not remembered",
  async (where) => {
    const { guard, clock, lookups, changed } = setUp();
    const asked = guard.authenticate(ask());
    if (where === "in this process") guard.invalidate();
    else {
      changed();
      clock.advance(250);
      expect(() => guard.authenticate(ask("eyJ"))).toThrow("not valid");
    }
    lookups[0]?.resolve(CALLER);
    expect(await asked).toEqual(CALLER);
    const again = guard.authenticate(ask());
    expect(lookups).toHaveLength(2);
    lookups[1]?.resolve(undefined);
    await expect(again).rejects.toThrow("not valid");
  },
);
