// Alerts from the event to their receivers: a real mail server, and a webhook that fails twice.

import { afterAll, expect, test } from "bun:test";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { snippetsUnder } from "../docs/snippets.ts";
import { startTestApp } from "../support/app.ts";
import { startMailServer } from "../support/mail-server.ts";
import { chatAnswer, startUpstream } from "../support/upstream.ts";

const SECRET = "whsec-planted";

interface Posted {
  readonly headers: Headers;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

/** A server that refuses its first requests. */
function startHook(refusals: number) {
  const posted: Posted[] = [];
  let waiting = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const text = await request.text();
      posted.push({ headers: request.headers, text, json: JSON.parse(text) });
      waiting.resolve();
      waiting = Promise.withResolvers();
      return new Response(null, { status: posted.length <= refusals ? 503 : 204 });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/alerts?token=x`,
    posted,
    async received(count: number) {
      while (posted.length < count) await waiting.promise;
      return posted;
    },
    stop: () => server.stop(true),
  };
}

const mailServer = await startMailServer();
const hook = startHook(2);
const upstream = startUpstream();
const config = {
  email: { smtp_url: mailServer.url, from: "Gateway <gateway@example.com>" },
  alerts: { webhook: hook.url, webhook_secret: SECRET, mail: ["operator@example.com"] },
  providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
  models: [{ id: "m", routes: [{ provider: "up", model: "m" }], prices: { input: 1, output: 1 } }],
  usage: { flush: "1ms" },
};
const app = await startTestApp({ config, key: { budgetMicros: 1000 } });
afterAll(async () => {
  await app.stop();
  await upstream.stop();
  await hook.stop();
  await mailServer.close();
});

/** Spends so many micro-dollars. */
async function spend(micros: number) {
  upstream.answer(async () => {
    const body = (await chatAnswer({ content: "Hi." }).json()) as object;
    return Response.json({ ...body, usage: { prompt_tokens: micros, completion_tokens: 1, total_tokens: micros + 1 } });
  });
  const answer = await app.post("/v1/chat/completions", {
    model: "m",
    max_tokens: 5,
    messages: [{ role: "user", content: "Hi" }],
  });
  expect(answer.status).toBe(200);
}

test("a budget's thresholds reach its owner and the webhook, once each", async () => {
  const store = await app.openStore();
  const owner = await accountStore(store).findAccount(app.accountId);
  await spend(700);
  await spend(110);
  // Two refusals, then it is taken.
  const [first, second, third] = await hook.received(3);
  expect([first?.text, second?.text]).toEqual([third!.text, third!.text]);
  const { json, headers, text } = third!;
  expect(json).toMatchObject({
    type: "budget",
    details: { scope: "key", percent: 80, spent: 0.000812, limit: 0.001, resets_at: null },
  });
  expect(Object.keys(json).sort()).toEqual(["at", "details", "subject", "type"]);
  expect(new Date(json["at"] as string).getTime()).toBeWithin(Date.now() - 60_000, Date.now() + 1);
  const [shown] = snippetsUnder("guides/alerts.md", "The webhook").filter(({ language }) => language === "json");
  const example = JSON.parse(shown?.code ?? "{}") as Record<string, Record<string, unknown>>;
  expect([Object.keys(json), Object.keys(json["details"] as object)]).toEqual([
    Object.keys(example),
    Object.keys(example["details"] ?? {}),
  ]);
  const timestamp = headers.get("x-sallyport-timestamp");
  const digest = new Bun.CryptoHasher("sha256", SECRET).update(`${timestamp}.${text}`).digest("hex");
  expect(headers.get("x-sallyport-signature")).toBe(`sha256=${digest}`);
  const [mail] = await mailServer.received(1);
  expect([mail?.subject, (mail!.to as { text: string }).text]).toEqual(["80 % of a budget is spent", owner!.email]);
  expect(mail?.text).toContain("80 % of the budget of the key");

  // The rest is spent after a restart, which forgets nothing and repeats nothing.
  await app.restart(config);
  await spend(300);
  expect((await hook.received(4))[3]?.json).toMatchObject({ details: { percent: 100 } });
  expect((await mailServer.received(2))[1]?.subject).toBe("100 % of a budget is spent");
  const keys = await keyStore(store).listKeys(app.accountId);
  expect(keys.map(({ id }) => id)).toContain(json["subject"] as string);
  await app.restart(config);
  expect([hook.posted.length, mailServer.mails.length]).toEqual([4, 2]);
  await store.close();
});

test("keys that expire soon are told to their owner, providers that are down to the operator", async () => {
  const [posts, mails] = [hook.posted.length, mailServer.mails.length];
  const store = await app.openStore();
  const expiresAtMs = Date.now() + 86_400_000;
  const { id, key } = await keyStore(store).createKey({ accountId: app.accountId, name: "short", expiresAtMs });
  await store.close();
  await app.restart({
    ...config,
    alerts: { ...config.alerts, provider_down: "10ms" },
    providers: { up: { ...config.providers.up, retry: { attempts: 1 }, breaker: { failures: 1 } } },
  });
  expect((await hook.received(posts + 1)).at(-1)?.json).toMatchObject({
    type: "key_expiry",
    subject: id,
    details: { name: "short", expires_at: new Date(expiresAtMs).toISOString() },
  });
  const toOwner = (await mailServer.received(mails + 1)).at(-1);
  expect(toOwner?.text).toContain('the API key "short" expires soon');

  upstream.answer(() => new Response("down", { status: 503 }));
  const chat = { model: "m", max_tokens: 5, messages: [{ role: "user", content: "Hi" }] };
  const failed = await app.post("/v1/chat/completions", chat, { authorization: `Bearer ${key}` });
  expect(failed.status).toBe(502);
  expect((await hook.received(posts + 2)).at(-1)?.json).toMatchObject({
    type: "provider_down",
    subject: "up",
    details: { failure: "unavailable", status: 503 },
  });
  const toOperator = (await mailServer.received(mails + 2)).at(-1);
  expect([(toOperator!.to as { text: string }).text, toOperator?.subject]).toEqual([
    "operator@example.com",
    "The provider up is down",
  ]);
});
