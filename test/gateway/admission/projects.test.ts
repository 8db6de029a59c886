// The limits of projects hold for all their keys together, beside those of each key and account; whichever refuses is named.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { accountStore } from "../../../src/store/access/accounts.ts";
import type { NewKey } from "../../../src/store/access/key-rows.ts";
import { keyStore } from "../../../src/store/access/keys.ts";
import { projectMemberStore } from "../../../src/store/access/project-members.ts";
import { type ProjectSettings, projectStore } from "../../../src/store/access/projects.ts";
import type { Store } from "../../../src/store/engine/store.ts";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { chatAnswer, type FakeUpstream, startUpstream } from "../../support/upstream.ts";

const PRICED = { prices: { input: 0, output: 1 }, max_output_tokens: 100_000 };
const CENT = 10_000;

let up: FakeUpstream;
let app: TestApp;
beforeAll(async () => {
  up = startUpstream();
  app = await startTestApp({ config: configOf() });
});
afterAll(async () => {
  await app.stop();
  await up.stop();
});
beforeEach(() => {
  up.received.length = 0;
  up.answer(() => answered(0));
});

function configOf() {
  return {
    usage: { flush: "1ms" },
    tiers: { premium: { rpm: 1_000_000 } },
    models: [{ id: "m", routes: [{ provider: "up", model: "m" }], ...PRICED }],
    providers: { up: { kind: "openai", base_url: up.baseUrl, discover: false, retry: { attempts: 1 } } },
  };
}

/** Output costs one micro-dollar for each token. */
const answered = (tokens: number) =>
  chatAnswer(
    { content: "x" },
    { extra: { usage: { prompt_tokens: 1, completion_tokens: tokens, total_tokens: tokens + 1 } } },
  );

async function stored<T>(read: (store: Store) => Promise<T>, of = app): Promise<T> {
  const store = await of.openStore();
  try {
    return await read(store);
  } finally {
    await store.close();
  }
}

/** A project with these limits and keys of it. */
async function project(
  limits: Partial<ProjectSettings>,
  keys: readonly Partial<NewKey>[] = [{}, {}],
  of = app,
): Promise<{ id: string; keys: string[]; ids: string[] }> {
  return stored(async (store) => {
    const made = await projectStore(store).createProject(of.accountId, { name: "p", ...limits });
    if (made === "too_many") throw new Error(made);
    const all: { id: string; key: string }[] = [];
    for (const key of keys)
      all.push(await keyStore(store).createKey({ accountId: of.accountId, name: "k", projectId: made.id, ...key }));
    return { id: made.id, keys: all.map(({ key }) => key), ids: all.map(({ id }) => id) };
  }, of);
}

const CHAT = { model: "m", max_tokens: CENT, messages: [{ role: "user", content: "hi" }] };
const ask = (key: string, of = app) => of.post("/v1/chat/completions", CHAT, { authorization: `Bearer ${key}` });
const refusal = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string; message: string; details?: unknown } };
  return { status: response.status, code: error.code, message: error.message, details: error.details };
};
const remaining = (response: Response) => [
  response.headers.get("x-ratelimit-limit"),
  response.headers.get("x-ratelimit-remaining"),
];

describe("requests a minute", () => {
  test("of a hundred at once over two keys exactly the project's limit is admitted", async () => {
    const { keys } = await project({ rpm: 7 });
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => ask(keys[n % 2]!)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(up.received).toHaveLength(7);
    expect(await refusal(answers.find(({ status }) => status === 429)!)).toMatchObject({
      code: "rate_limit_exceeded",
      message: expect.stringContaining("This project may send 7 requests a minute."),
      details: { limit: "rpm" },
    });
  });

  test("a request that the project refuses takes no place of the key, and the other way round", async () => {
    const { id, keys } = await project({ rpm: 2 }, [{ rpm: 3 }, { rpm: 1 }]);
    const [three, one] = keys as [string, string];
    expect(remaining(await ask(one))).toEqual(["1", "0"]);
    // Refused by the key: the project has a place left.
    expect((await refusal(await ask(one))).message).toContain("This key may send 1 requests a minute.");
    expect(remaining(await ask(three))).toEqual(["2", "0"]);
    for (let n = 0; n < 5; n++) expect((await ask(three)).status).toBe(429);
    await stored((store) => projectStore(store).updateProject(id, { rpm: 100 }));
    while ((await ask(three)).status === 429);
    expect(remaining(await ask(three))).toEqual(["3", "0"]);
  });

  test("the window survives a restart", async () => {
    const { keys } = await project({ rpm: 2 });
    expect([(await ask(keys[0]!)).status, (await ask(keys[1]!)).status]).toEqual([200, 200]);
    await app.restart();
    expect((await ask(keys[0]!)).status).toBe(429);
  });
});

test("requests at once: exactly as many requests of all its keys as it may have", async () => {
  const { keys } = await project({ parallel: 3 }, [{ parallel: 2 }, { parallel: 2 }]);
  const { promise, resolve } = Promise.withResolvers<void>();
  up.answer(async () => {
    await promise;
    return answered(0);
  });
  const refused: Response[] = [];
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const response = await ask(keys[n % 2]!);
      if (response.status === 429) refused.push(response);
      if (refused.length === 17) resolve();
      return response.status;
    }),
  );
  expect(statuses.filter((status) => status === 200)).toHaveLength(3);
  const said = new Set(await Promise.all(refused.map(async (one) => (await refusal(one)).message.slice(0, 12))));
  expect(said).toEqual(new Set(["This key may", "This project"]));
});

test("tokens a minute: as many requests of all its keys as fit, and what they used counts for key and project", async () => {
  const { keys } = await project({ tpm: 3.5 * CENT }, [{ tpm: 2.5 * CENT }, {}]);
  const { promise, resolve } = Promise.withResolvers<void>();
  up.answer(async () => {
    await promise;
    return answered(99);
  });
  const refused: Response[] = [];
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const response = await ask(keys[n % 2]!);
      if (response.status === 429) refused.push(response);
      if (refused.length === 17) resolve();
      return response.status;
    }),
  );
  expect(statuses.filter((status) => status === 200)).toHaveLength(3);
  for (const one of refused) {
    const { message, details } = await refusal(one);
    expect(details).toEqual({ limit: "tpm" });
    expect(message).toMatch(/^This (?:key may use 25000|project may use 35000) tokens a minute/);
  }
  const left = (await ask(keys[1]!)).headers;
  expect(left.get("x-ratelimit-limit-tokens")).toBe(String(3.5 * CENT));
  // The three used a hundred each; this one is estimated at its output limit and its prompt.
  expect(Number(left.get("x-ratelimit-remaining-tokens"))).toBeWithin(2.5 * CENT - 320, 2.5 * CENT - 300);
});

describe("budgets", () => {
  const spentBy = (id: string) =>
    stored(async (store) => (await projectStore(store).findProject(id))?.spentMicros ?? 0);
  /** Waits until this much is written. */
  const written = async (id: string, micros: number) => {
    while ((await spentBy(id)) !== micros) await Bun.sleep(5);
  };

  test("what all keys spend counts, and the project is named when it is spent", async () => {
    const { id, keys } = await project({ budgetMicros: 2 * CENT, budgetPeriodMs: 86_400_000 });
    const { keys: others } = await project({ budgetMicros: 2 * CENT });
    up.answer(() => answered(CENT));
    expect([(await ask(keys[0]!)).status, (await ask(keys[1]!)).status]).toEqual([200, 200]);
    for (const key of keys)
      expect(await refusal(await ask(key))).toMatchObject({
        ...{ status: 402, code: "budget_exceeded" },
        message: expect.stringMatching(
          /^The budget of this project is used up: \$0.02 of \$0.02. It is reset on .* UTC; its owners and managers can raise it\.$/,
        ),
        details: { scope: "project", spent: 0.02, limit: 0.02, resets_at: expect.any(String) },
      });
    // Keys of other projects, and of none, go on.
    expect([(await ask(others[0]!)).status, (await ask(app.key)).status]).toEqual([200, 200]);
    await written(id, 2 * CENT);
    await app.restart();
    expect((await ask(keys[0]!)).status).toBe(402);
    await stored((store) => projectStore(store).updateProject(id, { budgetMicros: 3 * CENT }));
    while ((await ask(keys[0]!)).status === 402);
    expect(up.received.length).toBeGreaterThan(4);
  });

  test("of a hundred requests at once as many are admitted as the project can pay for", async () => {
    const { keys } = await project({ budgetMicros: 5 * CENT });
    const { promise, resolve } = Promise.withResolvers<void>();
    up.answer(async () => {
      await promise;
      return answered(CENT);
    });
    const refused: Response[] = [];
    const statuses = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const response = await ask(keys[n % 2]!);
        if (response.status === 429) refused.push(response);
        if (refused.length === 95) resolve();
        return response.status;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect((await refusal(refused[0]!)).message).toContain("may use up the budget of this project");
  });

  test.each([
    ["key", { budgetMicros: CENT }, { budgetMicros: 2 * CENT }],
    ["project", { budgetMicros: 2 * CENT }, { budgetMicros: CENT }],
  ] as const)("whichever is spent first refuses: the %s", async (scope, ofKey, ofProject) => {
    const { keys } = await project(ofProject, [ofKey]);
    up.answer(() => answered(CENT));
    expect((await ask(keys[0]!)).status).toBe(200);
    expect(await refusal(await ask(keys[0]!))).toMatchObject({ status: 402, details: { scope } });
  });

  test("a key that moves, is revoked or goes with its account leaves what it spent in the project", async () => {
    const { id, keys, ids } = await project({ budgetMicros: 10 * CENT });
    up.answer(() => answered(CENT));
    for (const key of keys) expect((await ask(key)).status).toBe(200);
    await stored(async (store) => {
      await keyStore(store).revokeKey(ids[0]!);
      const bob = await accountStore(store).createAccount({ username: "bob", email: "bob@x.example", tier: "premium" });
      const bobs = "id" in bob ? bob.id : "";
      await projectMemberStore(store).setMember(id, bobs, "member");
      const { key } = await keyStore(store).createKey({ accountId: bobs, name: "k", projectId: id });
      expect((await ask(key)).status).toBe(200);
      await written(id, 3 * CENT);
      await accountStore(store).deleteAccount(bobs);
      // A key that is still cached could spend.
      const authorization = `Bearer ${key}`;
      while ((await app.call("/v1/models", { headers: { authorization } })).status !== 401);
    });
    expect(await spentBy(id)).toBe(3 * CENT);
  });
});
