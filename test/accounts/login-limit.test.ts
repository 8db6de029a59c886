// Password guessing: what counts, for whom and how long; and that an unknown user takes the same work as a known one.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { addressName } from "../../src/accounts/address-name.ts";
import { passwordHasher } from "../../src/accounts/passwords/hash-queue.ts";
import { hashPassword, isOutdatedHash, passwordFault } from "../../src/accounts/passwords/passwords.ts";
import { signIn } from "../../src/accounts/sessions/sign-in.ts";
import { FakeClock } from "../../src/base/clock.ts";
import { ApiError } from "../../src/base/errors.ts";
import { createThrottle } from "../../src/shared-state/sign-in-throttle.ts";
import { accountStore } from "../../src/store/access/accounts.ts";
import { auditStore } from "../../src/store/access/audit.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "./support.ts";

const MINUTE = 60_000;

let app: AccountsApp;
beforeAll(async () => {
  app = await startAccountsApp({ config: { auth: { login_limit: { failures: 4, window: "15m" } } } });
});
afterAll(() => app.stop());

const login = (name: string, password: string, from = freshAddress()) =>
  app.ask("POST", "/v1/auth/token", { body: { username: name, password }, headers: { "x-forwarded-for": from } });

describe("through the edge", () => {
  test("an account is locked after its failures from anywhere, for the right password too, until the window has passed", async () => {
    const account = await app.addAccount("lena");
    const first = await Promise.all([1, 2, 3, 4].map(() => login("lena", "wrong password")));
    expect(first.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    const locked = await login("lena@example.com", PASSWORD);
    expect([locked.status, locked.json.error.code]).toEqual([429, "too_many_attempts"]);
    expect(Number(locked.headers.get("retry-after"))).toBeWithin(14 * 60, 15 * 60 + 1);
    app.clock.advance(15 * MINUTE);
    expect((await login("lena", PASSWORD)).status).toBe(200);
    const events = (await auditStore(app.store).listAudit(account.id)).map(({ event }) => event);
    expect(events).toEqual(["login", ...Array(4).fill("login_failed")]);
  });

  test("of any number of guesses sent at once the limit is judged", async () => {
    await app.addAccount("mona");
    const answers = await Promise.all(Array.from({ length: 20 }, () => login("mona", "wrong password")));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(4);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(16);
  });

  test("an address is locked after its failures with any names; what a client says of itself does not help", async () => {
    await app.addAccount("nora");
    const from = freshAddress();
    await Promise.all([1, 2, 3, 4].map((n) => login(`nobody-${n}`, "wrong password", from)));
    // The addresses to the left of the one that our proxy added are the client's own claim.
    expect((await login("nora", PASSWORD, `198.51.100.7, ${from}`)).status).toBe(429);
    expect((await login("nora", PASSWORD)).status).toBe(200);
  });

  test("right passwords do not use tries up", async () => {
    await app.addAccount("olga");
    const from = freshAddress();
    for (let n = 0; n < 6; n++) expect((await login("olga", PASSWORD, from)).status).toBe(200);
  });

  test("unknown, wrong and without a password answer alike, and lock alike", async () => {
    await app.addAccount("petra");
    await app.addAccount("rita", { passwordHash: null });
    const shapes = await Promise.all(
      ["petra", "rita", "nobody-at-all", "nobody@example.org"].map(async (name) => {
        const answers = [];
        for (let n = 0; n < 5; n++) {
          const { status, json, headers } = await login(name, "wrong password");
          answers.push({ status, error: json.error, headers: [...headers.keys()].sort() });
        }
        return answers;
      }),
    );
    expect(shapes[0]?.map(({ status }) => status)).toEqual([401, 401, 401, 401, 429]);
    for (const shape of shapes) expect(shape).toEqual(shapes[0]!);
  });
});

describe("with real hashes", () => {
  let real: AccountsApp;
  beforeAll(async () => {
    real = await startAccountsApp({ realHashes: true });
  });
  afterAll(() => real.stop());
  const signInAs = (name: string, password: string) =>
    real.ask("POST", "/v1/auth/token", { body: { username: name, password } });

  test("the right password opens, a wrong one and a name of nobody do not", async () => {
    await real.addAccount("thea");
    const answers = await Promise.all([
      signInAs("thea", PASSWORD),
      signInAs("thea", "wrong password"),
      signInAs("nobody", PASSWORD),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 401]);
  });

  test("a hash with old parameters is renewed at the next sign-in", async () => {
    const old = await Bun.password.hash(PASSWORD, { algorithm: "argon2id", memoryCost: 1024, timeCost: 1 });
    const { id } = await real.addAccount("sara", { passwordHash: old });
    expect((await signInAs("sara", PASSWORD)).status).toBe(200);
    const hash = async () => (await accountStore(real.store).findAccount(id))?.passwordHash ?? "";
    while ((await hash()) === old) await Bun.sleep(5);
    expect(isOutdatedHash(await hash())).toBe(false);
    expect((await signInAs("sara", PASSWORD)).status).toBe(200);
  });
});

test("a password is hashed once for every try that is judged, whoever it is for", async () => {
  const known = { id: "a", passwordHash: await hashPassword(PASSWORD) };
  const work: string[] = [];
  const verify = signIn({
    accounts: {
      findAccountByLogin: async (name) => (name === "known" ? (known as never) : undefined),
      findAccount: async () => undefined,
      updateAccount: async () => undefined,
    },
    audit: { addAudit: async ({ event }) => void work.push(event) },
    attempts: createThrottle(new FakeClock(), () => ({ failures: 2, windowMs: 1000 })),
    hasher: {
      hash: hashPassword,
      verify: async (_password, hash) => {
        // The same algorithm with the same parameters takes the same time.
        work.push(hash.split("$").slice(0, 4).join("$"));
        return false;
      },
    },
    failed: () => {},
  });
  const attempt = async (login: string, address: string) => {
    work.length = 0;
    const error = await verify({ login, password: "x" }, { address, userAgent: "" }).catch((thrown) => thrown);
    return [error.apiCode, ...work];
  };
  const judged = ["invalid_credentials", "$argon2id$v=19$m=65536,t=2,p=1", "login_failed"];
  expect(await attempt("known", "1")).toEqual(judged);
  expect(await attempt("unknown", "2")).toEqual(judged);
  expect(await attempt("known", "3")).toEqual(judged);
  expect(await attempt("known", "4")).toEqual(["too_many_attempts"]);
});

test("a password that is changed, or whose account is deleted, while it is hashed does not sign in", async () => {
  const before = { id: "a", passwordHash: "hash of old" };
  for (const [after, password, error] of [
    [{ ...before, passwordHash: "hash of new" }, "old", "invalid_credentials"],
    [{ ...before, passwordHash: null }, "old", "invalid_credentials"],
    [undefined, "old", "invalid_credentials"],
    // The password is the same: another sign-in has replaced an outdated hash.
    [{ ...before, passwordHash: "newer hash of old" }, "old", undefined],
  ] as const) {
    const verify = signIn({
      accounts: {
        findAccountByLogin: async () => before as never,
        findAccount: async () => after as never,
        updateAccount: async () => undefined,
      },
      audit: { addAudit: async () => {} },
      attempts: createThrottle(new FakeClock(), () => ({ failures: 1, windowMs: 1000 })),
      hasher: { hash: hashPassword, verify: async (tried, hash) => hash.endsWith(`hash of ${tried}`) },
      failed: () => {},
    });
    const outcome = verify({ login: "a", password }, { address: "1", userAgent: "" });
    expect(await outcome.then(() => undefined).catch((thrown) => thrown.apiCode)).toBe(error);
  }
});

test("an attempt that was refused because the server was busy does not count", async () => {
  let busy = true;
  const verify = signIn({
    accounts: {
      findAccountByLogin: async () => undefined,
      findAccount: async () => undefined,
      updateAccount: async () => undefined,
    },
    audit: { addAudit: async () => {} },
    attempts: createThrottle(new FakeClock(), () => ({ failures: 1, windowMs: 1000 })),
    hasher: {
      hash: hashPassword,
      verify: async () => (busy ? Promise.reject(new ApiError("server_busy", "busy")) : false),
    },
    failed: () => {},
  });
  const attempt = () =>
    verify({ login: "x", password: "x" }, { address: "1", userAgent: "" }).catch((error) => error.apiCode);
  expect([await attempt(), await attempt()]).toEqual(["server_busy", "server_busy"]);
  busy = false;
  expect([await attempt(), await attempt()]).toEqual(["invalid_credentials", "too_many_attempts"]);
});

describe("the counters", () => {
  test("never let more than the limit through in any window", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(
          fc.record({
            waitMs: fc.integer({ min: 0, max: 60 }),
            name: fc.integer({ min: 0, max: 2 }),
            ok: fc.boolean(),
          }),
        ),
        (failures, steps) => {
          const clock = new FakeClock();
          const attempts = createThrottle(clock, () => ({ failures, windowMs: 100 }));
          const failed = new Map<number, number[]>();
          for (const { waitMs, name, ok } of steps) {
            clock.advance(waitMs);
            const recent = (failed.get(name) ?? []).filter((at) => at > clock.now() - 100);
            const attempt = attempts.begin([`n${name}`]);
            expect(attempt.allowed).toBe(recent.length < failures);
            if (!attempt.allowed) {
              expect(attempt.retryAfterSeconds * 1000).toBeCloseTo(
                recent[recent.length - failures]! + 100 - clock.now(),
              );
            } else if (ok) attempt.uncount();
            else failed.set(name, [...recent, clock.now()]);
          }
        },
      ),
    );
  });

  test("an IPv6 customer is one address", () => {
    const same = ["2001:db8:1:2::1", "2001:DB8:1:2:ffff::", "2001:db8:1:2:3:4:5:6", "2001:0db8:0001:0002::9%eth0"];
    expect(new Set(same.map(addressName)).size).toBe(1);
    expect(addressName("2001:db8:1:3::1")).not.toBe(addressName(same[0]!));
    expect(addressName("::1")).toBe(addressName("::2"));
    expect(addressName("192.0.2.1")).not.toBe(addressName("192.0.2.2"));
  });
});

describe("the hash queue", () => {
  test("works on so many at once, keeps so many waiting, and refuses the rest", async () => {
    let open = 0;
    let most = 0;
    const { promise: gate, resolve: release } = Promise.withResolvers<void>();
    const hasher = passwordHasher({
      concurrency: 2,
      waitingMax: 3,
      hash: async () => {
        most = Math.max(most, ++open);
        await gate;
        open--;
        return "hash";
      },
    });
    const all = Array.from({ length: 7 }, () => hasher.hash("x").catch((error) => error.apiCode));
    release();
    expect((await Promise.all(all)).sort()).toEqual([
      "hash",
      "hash",
      "hash",
      "hash",
      "hash",
      "server_busy",
      "server_busy",
    ]);
    expect(most).toBe(2);
    expect(await hasher.hash("x")).toBe("hash");
  });

  test("a failure gives its place on", async () => {
    const hasher = passwordHasher({
      concurrency: 1,
      hash: async (p) => (p === "bad" ? Promise.reject(new Error("x")) : p),
    });
    const results = await Promise.allSettled(["bad", "a", "bad", "b"].map((p) => hasher.hash(p)));
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected", "fulfilled"]);
  });
});

test("passwords that are short, endless or everybody's are refused", () => {
  for (const password of ["short", "123456789", "a".repeat(1025), "1234567890", "Password123", "QWERTYUIOP"]) {
    expect(passwordFault(password)).toBeString();
  }
  for (const password of ["ten chars!", PASSWORD, "ünïcödé-pässwörd", "a".repeat(1024)]) {
    expect(passwordFault(password)).toBeUndefined();
  }
});
