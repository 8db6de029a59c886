// What two nodes on one PostgreSQL and one Redis do as one, over HTTP: breakers, model lists, robots.txt files, sign-in limits,
// sign-ins through providers, revoked keys and promoted decision models; and what they do while Redis is gone.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { nativeAnswers, startFake } from "../decisions/support.ts";
import type { TestApp } from "../support/app.ts";
import { type FakeSite, page, startFakeSite } from "../support/fake-site.ts";
import { startFakeGithub } from "../support/identity-servers.ts";
import { HAS_ENGINES, PASSWORD, startTwoNodes, type TwoNodes } from "./two-nodes.ts";

const CLIENT = "https://app.example/signed-in";
const LOGIN_FAILURES = 3;

/** A provider that lists models and fails until told otherwise. */
function startProvider() {
  const asked = { models: 0, chats: 0 };
  const state = { isBroken: true };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      if (request.url.endsWith("/models")) {
        asked.models++;
        return Response.json({ data: [{ id: "listed-1" }] });
      }
      asked.chats++;
      if (state.isBroken) return new Response("broken", { status: 500 });
      const message = { role: "assistant", content: "hi" };
      const choices = [{ index: 0, message, finish_reason: "stop" }];
      return Response.json({ id: "c", object: "chat.completion", choices });
    },
  });
  return { baseUrl: `http://127.0.0.1:${server.port}/v1`, asked, state, stop: () => server.stop(true) };
}

describe.skipIf(!HAS_ENGINES)("two nodes", () => {
  let both: TwoNodes;
  let nodes: readonly [TestApp, TestApp];
  let site: FakeSite;
  const provider = startProvider();
  const github = startFakeGithub();
  const native = startFake(nativeAnswers);

  beforeAll(async () => {
    site = startFakeSite({ "/robots.txt": () => new Response("User-agent: *\nDisallow: /secret"), "/a": page("a") });
    const route = (model: string) => ({ kind: "systemone", routes: [{ provider: "native", model }] });
    both = await startTwoNodes({
      server: { trusted_proxies: ["127.0.0.1"] },
      providers: {
        weak: {
          kind: "openai",
          base_url: provider.baseUrl,
          retry: { attempts: 1 },
          breaker: { failures: 2, cooldown: "10m" },
        },
        native: { kind: "systemone", base_url: native.url },
        demo: { kind: "demo" },
      },
      decisions: {
        models: [
          { id: "judge-1.0.0", aliases: ["judge-latest"], backend: route("jev-1.13.0") },
          { id: "judge-2.0.0", backend: route("jev-2.0.0") },
        ],
      },
      web: { allow_hosts: [site.host] },
      search: { only: ["searxng"], engines: { searxng: { base_url: site.url } } },
      auth: {
        login_limit: { failures: LOGIN_FAILURES, window: "15m" },
        oauth: { github: github.config },
        oauth_redirects: [CLIENT],
      },
    });
    ({ nodes } = both);
  }, 60_000);
  afterAll(async () => {
    await both?.stop();
    site?.stop();
    provider.stop();
    native.stop();
    await github.stop();
  });

  const chat = (node: TestApp, model: string, key = nodes[0].key) =>
    node.post(
      "/v1/chat/completions",
      { model, messages: [{ role: "user", content: "hi" }] },
      { authorization: `Bearer ${key}` },
    );
  const statusOf = async (answer: Promise<Response>) => {
    const { status, body } = await answer;
    await body?.cancel();
    return status;
  };

  test("list a provider's models once", async () => {
    for (const node of nodes) {
      for (;;) {
        const { data } = (await (await node.call("/v1/models")).json()) as { data: { id: string }[] };
        if (data.some(({ id }) => id.includes("listed-1"))) break;
        await Bun.sleep(10);
      }
    }
    expect(provider.asked.models).toBe(1);
  }, 30_000);

  test("leave a provider alone that failed at one, until an operator resets it at the other", async () => {
    await both.addAccount("boss", { admin: true });
    for (let n = 0; n < 2; n++) expect(await statusOf(chat(nodes[0], "weak/listed-1"))).toBe(502);
    const failed = provider.asked.chats;
    // The message is on its way; until it arrives this node would fail by itself too.
    const weak = async (node: TestApp) => (await (await node.call("/health")).json()).breakers?.weak;
    while ((await weak(nodes[1]))?.state !== "open") await Bun.sleep(10);
    const refused = await chat(nodes[1], "weak/listed-1");
    expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
      503,
      "provider_circuit_open",
    ]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(provider.asked.chats).toBe(failed);
    provider.state.isBroken = false;
    const headers = { "content-type": "application/json", origin: nodes[1].url };
    const signIn = await fetch(`${nodes[1].url}/dashboard/api/login`, {
      method: "POST",
      headers,
      body: JSON.stringify({ username_or_email: "boss", password: PASSWORD }),
    });
    const cookie = signIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const reset = await fetch(`${nodes[1].url}/dashboard/api/admin/providers/weak/reset`, {
      method: "POST",
      headers: { ...headers, cookie },
      body: "{}",
    });
    expect(reset.status).toBe(200);
    while ((await weak(nodes[0]))?.state !== "closed") await Bun.sleep(10);
    expect(await statusOf(chat(nodes[0], "weak/listed-1"))).toBe(200);
  }, 30_000);

  test("read a site's robots.txt once", async () => {
    for (const node of nodes) {
      expect(await statusOf(node.post("/v1/scrape", { url: `${site.url}/a` }))).toBe(200);
      expect(await statusOf(node.post("/v1/scrape", { url: `${site.url}/secret` }))).not.toBe(200);
    }
    expect([site.count("/robots.txt"), site.count("/secret")]).toEqual([1, 0]);
  }, 60_000);

  test("ask a search engine once", async () => {
    const results = ["a", "b"].map((one) => ({
      url: `https://${one}.example/`,
      title: `sloths ${one}`,
      content: "sloths",
    }));
    site.set("/search", () => Response.json({ results, suggestions: [] }));
    const found: string[][] = [];
    for (const node of nodes) {
      const answer = await node.post("/v1/search", { query: "sloths", limit: 2 });
      found.push(((await answer.json()) as { results: { url: string }[] }).results.map(({ url }) => url));
    }
    expect(found).toEqual([results.map(({ url }) => url), results.map(({ url }) => url)]);
    expect(site.hits.filter((hit) => hit.startsWith("/search?"))).toHaveLength(1);
  }, 30_000);

  test("say so when Redis answers with errors", async () => {
    const reports = async (node: TestApp) => {
      const { subsystems } = (await (await node.call("/health")).json()) as { subsystems: { redis: unknown } };
      const metrics = await (await node.call("/metrics")).text();
      return { redis: subsystems.redis, mode: /limiter_mode\{mode="(\w+)"\} 1/.exec(metrics)?.[1] };
    };
    const local = { redis: { status: "degraded", mode: "local" }, mode: "local" };
    const shared = { redis: { status: "ok", mode: "shared" }, mode: "shared" };
    /** Chats until the node reports this: what is given back after a chat, and at times, asks Redis too. */
    const chatsUntil = async (node: TestApp, report: typeof local) => {
      do await statusOf(chat(node, "demo-echo"));
      while (!Bun.deepEquals(await reports(node), report));
    };
    await both.redis.ask("ACL", "SETUSER", "default", "-zremrangebyscore");
    for (const node of nodes) await chatsUntil(node, local);
    await both.redis.ask("ACL", "SETUSER", "default", "+@all");
    for (const node of nodes) {
      await chatsUntil(node, shared);
      await node.flushLogs();
      const lines = node.logs.filter(({ msg }) => String(msg).startsWith("Redis answers with errors"));
      expect(lines).toHaveLength(1);
    }
  }, 120_000);

  test("count wrong passwords together", async () => {
    await both.addAccount("ann");
    const answers: number[] = [];
    for (let n = 0; n <= LOGIN_FAILURES; n++) {
      const body = JSON.stringify({ username_or_email: "ann", password: "wrong" });
      const headers = { "content-type": "application/json", "x-forwarded-for": `203.0.113.${n}` };
      answers.push(await statusOf(fetch(`${nodes[n % 2]!.url}/v1/auth/token`, { method: "POST", headers, body })));
    }
    expect(answers).toEqual([...Array<number>(LOGIN_FAILURES).fill(401), 429]);
  }, 30_000);

  test("let a sign-in through a provider begin at one, return to the other and end at the first", async () => {
    const email = "octo@example.com";
    await both.addAccount("octo", { email });
    github.person = { id: 77, login: "octo", emails: [{ email, primary: true, verified: true }] };
    const start = `/v1/auth/oauth/github/start?${new URLSearchParams({ redirect_uri: CLIENT })}`;
    // A balancer gives all nodes one public address.
    const via = {
      redirect: "manual",
      headers: { "x-forwarded-host": "gw.example", "x-forwarded-proto": "https" },
    } as const;
    const begun = await fetch(nodes[0].url + start, via);
    const sent = await fetch(begun.headers.get("location") ?? "", { redirect: "manual" });
    const back = new URL(sent.headers.get("location") ?? "");
    const returned = await fetch(nodes[1].url + back.pathname + back.search, via);
    const code = new URL(returned.headers.get("location") ?? "").searchParams.get("code");
    const exchange = (node: TestApp) =>
      fetch(`${node.url}/v1/auth/oauth/exchange`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code, provider: "github" }),
      });
    expect(await statusOf(exchange(nodes[0]))).toBe(200);
    // A code works once, whichever node it is brought to.
    expect(await statusOf(exchange(nodes[1]))).toBe(400);
  }, 30_000);

  test("answer with a promoted decision model", async () => {
    const questions = { q: { type: "choice", criteria: { yes: null, no: null } } };
    const answeredBy = async (node: TestApp) => {
      const answer = await node.post("/v1/systemone", { model: "judge-latest", state: "x", questions });
      return ((await answer.json()) as { model: string }).model;
    };
    for (const node of nodes) expect(await answeredBy(node)).toBe("judge-1.0.0");
    expect(await both.command("decisions", "promote", "judge-2.0.0", "judge-latest")).toMatchObject({ code: 0 });
    for (const node of nodes) while ((await answeredBy(node)) !== "judge-2.0.0") await Bun.sleep(10);
  }, 30_000);

  describe("without Redis", () => {
    beforeAll(async () => {
      await both.redis.kill();
      await both.inMode("local");
    }, 30_000);
    afterAll(async () => {
      await both.redis.start();
      await both.inMode("shared");
    }, 30_000);

    test("refuse a key that a command revoked", async () => {
      const { id, key } = await both.addKey(10_000);
      for (const node of nodes) expect(await statusOf(chat(node, "demo-echo", key))).toBe(200);
      expect(await both.command("key", "revoke", "--id", id)).toMatchObject({ code: 0 });
      for (const node of nodes) while ((await statusOf(chat(node, "demo-echo", key))) !== 401) await Bun.sleep(10);
    }, 30_000);

    test("refuse every key of an account that a command deleted", async () => {
      const { key } = await both.addKey(10_000, await both.addAccount("leaver"));
      for (const node of nodes) expect(await statusOf(chat(node, "demo-echo", key))).toBe(200);
      const deleted = await both.command("account", "delete", "--email", "leaver@example.com", "--yes");
      expect(deleted).toMatchObject({ code: 0 });
      for (const node of nodes) while ((await statusOf(chat(node, "demo-echo", key))) !== 401) await Bun.sleep(10);
    }, 30_000);

    test("admit together no more than the limit", async () => {
      const { key } = await both.addKey(10);
      const asked = Array.from({ length: 40 }, (_, n) => statusOf(chat(nodes[n % 2]!, "demo-echo", key)));
      const admitted = (await Promise.all(asked)).filter((status) => status === 200);
      expect(admitted).toHaveLength(10);
    }, 30_000);

    test("sign in, scrape and answer as each node would alone", async () => {
      const body = JSON.stringify({ username_or_email: "octo", password: PASSWORD });
      for (const node of nodes) {
        const headers = { "content-type": "application/json" };
        expect(await statusOf(fetch(`${node.url}/v1/auth/token`, { method: "POST", headers, body }))).toBe(200);
        expect(await statusOf(node.post("/v1/scrape", { url: `${site.url}/a` }))).toBe(200);
        expect(await statusOf(chat(node, "weak/listed-1"))).toBe(200);
      }
    }, 60_000);
  });

  test("have said once each time that Redis was gone, and that it was back", async () => {
    for (const node of nodes) {
      await node.flushLogs();
      const lines = (text: string) => node.logs.filter(({ msg }) => String(msg).includes(text));
      expect(lines("Redis cannot be reached; limits are kept by this node alone")).toHaveLength(1);
      // At the start, and again.
      expect(lines("limits are shared through Redis")).toHaveLength(2);
    }
  });
});

describe.skipIf(!HAS_ENGINES)("two nodes with redis.on_failure: closed", () => {
  let both: TwoNodes;

  beforeAll(async () => {
    both = await startTwoNodes({ redis: { on_failure: "closed" } });
    await both.addAccount("ann");
    await both.redis.kill();
    await both.inMode("closed");
  }, 60_000);
  afterAll(() => both?.stop());

  test.each([
    ["/v1/chat/completions", { model: "demo-echo", messages: [{ role: "user", content: "hi" }] }],
    ["/v1/messages", { model: "demo-echo", max_tokens: 9, messages: [{ role: "user", content: "hi" }] }],
    ["/v1/embeddings", { model: "demo-embed", input: "hi" }],
    ["/v1/search", { query: "hi" }],
  ])("answer 503 on %s, with the time to wait", async (path, body) => {
    for (const node of both.nodes) {
      const answer = await node.post(path, body);
      expect([answer.status, Number(answer.headers.get("retry-after")) > 0]).toEqual([503, true]);
      await answer.body?.cancel();
    }
  });

  test.each(["/livez", "/readyz", "/health", "/v1/models", "/v1/key", "/metrics", "/dashboard", "/openapi.json"])(
    "answer on %s as ever",
    async (path) => {
      for (const node of both.nodes) {
        const answer = await node.call(path, { redirect: "follow" });
        await answer.body?.cancel();
        expect(answer.status).toBe(200);
      }
    },
  );

  test("let people sign in, and shared limits work again when Redis is back", async () => {
    const body = JSON.stringify({ username_or_email: "ann", password: PASSWORD });
    for (const node of both.nodes) {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${node.url}/v1/auth/token`, { method: "POST", headers, body });
      expect(answer.status).toBe(200);
    }
    await both.redis.start();
    await both.inMode("shared");
    const { key } = await both.addKey(6);
    const asked = Array.from({ length: 20 }, (_, n) =>
      both.nodes[n % 2]!.post(
        "/v1/chat/completions",
        { model: "demo-echo", messages: [{ role: "user", content: "hi" }] },
        { authorization: `Bearer ${key}` },
      ),
    );
    const answers = (await Promise.all(asked)).map(({ status }) => status);
    expect(answers.filter((status) => status === 200)).toHaveLength(6);
    expect(answers.filter((status) => status === 429)).toHaveLength(14);
  }, 60_000);
});
