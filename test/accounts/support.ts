// The program with a controllable clock and accounts with passwords, and a JSON client for it.

import type { PasswordHasher } from "../../src/accounts/passwords/hash-queue.ts";
import { hashPassword, nobodysHash } from "../../src/accounts/passwords/passwords.ts";
import type { Clock } from "../../src/base/clock.ts";
import { sha256Hex } from "../../src/base/ids.ts";
import { type Account, accountStore, type NewAccount } from "../../src/store/access/accounts.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { startTestApp, type TestApp, type TestAppOptions } from "../support/app.ts";

/** The password of every account. */
export const PASSWORD = "correct horse battery staple";

/** A hash in the current format that takes no time to compute. Real ones take a tenth of a second each. */
const quickHash = (password: string) =>
  `${nobodysHash().split("$").slice(0, 4).join("$")}$quick$${sha256Hex(password)}`;

/** A hasher for tests that are not about hashing. */
const QUICK: PasswordHasher = {
  hash: async (password) => quickHash(password),
  verify: async (password, hash) => hash === quickHash(password),
};

/** The system time plus what a test has added. */
export class MovableClock implements Clock {
  #addedMs = 0;
  now(): number {
    return Date.now() + this.#addedMs;
  }
  advance(ms: number): void {
    this.#addedMs += ms;
  }
}

export interface Answer {
  status: number;
  // A test that reads a body knows its form, or fails.
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is tested
  json: any;
  text: string;
  headers: Headers;
}

export interface Ask {
  /** Bearer credential. */
  as?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface AccountsApp {
  app: TestApp;
  clock: MovableClock;
  /** A second connection to the database. */
  store: Store;
  ask(method: string, path: string, options?: Ask): Promise<Answer>;
  addAccount(name: string, more?: Partial<NewAccount>): Promise<Account>;
  /** A new pair of tokens. */
  signIn(name: string): Promise<{ access_token: string; refresh_token: string }>;
  stop(): Promise<void>;
}

let address = 0;

/** Starts the program. Requests can come from any address, with `X-Forwarded-For`. */
export async function startAccountsApp(options: TestAppOptions & { realHashes?: boolean } = {}): Promise<AccountsApp> {
  const { realHashes = false } = options;
  const passwordHash = realHashes ? await hashPassword(PASSWORD) : quickHash(PASSWORD);
  const clock = new MovableClock();
  const config = { server: { trusted_proxies: ["127.0.0.1"] }, ...options.config };
  const app = await startTestApp({ ...options, config, clock, ...(realHashes ? {} : { hasher: QUICK }) });
  const store = await app.openStore(clock);
  const accounts = accountStore(store);
  const ask = async (method: string, path: string, { as, body, headers = {} }: Ask = {}): Promise<Answer> => {
    const response = await fetch(app.url + path, {
      method,
      redirect: "manual",
      headers: {
        ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    return {
      status: response.status,
      text,
      json: isJson ? JSON.parse(text) : undefined,
      headers: response.headers,
    };
  };
  return {
    app,
    clock,
    store,
    ask,
    async addAccount(name, more = {}) {
      const account = await accounts.createAccount({
        username: name,
        email: `${name}@example.com`,
        tier: "free",
        passwordHash,
        ...more,
      });
      if ("refused" in account) throw new Error(account.refused);
      return account;
    },
    async signIn(name) {
      const { status, json } = await ask("POST", "/v1/auth/token", {
        body: { username_or_email: name, password: PASSWORD },
        headers: { "x-forwarded-for": freshAddress() },
      });
      if (status !== 200) throw new Error(JSON.stringify(json));
      return json;
    },
    async stop() {
      await store.close();
      await app.stop();
    },
  };
}

/** An address that no test has used yet. */
export function freshAddress(): string {
  address += 1;
  return `203.0.${Math.floor(address / 250)}.${1 + (address % 250)}`;
}
