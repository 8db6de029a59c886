// Access tokens, of token and metadata servers on loopback. Assertions are checked by the public key.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { exportPKCS8, generateKeyPair, jwtVerify } from "jose";
import { FakeClock } from "../../src/base/clock.ts";
import type { CredentialConfig } from "../../src/config/schema.ts";
import { createCredential } from "../../src/upstream/credentials/index.ts";
import { lastResort } from "../../src/upstream/credentials/token-request.ts";
import { credentialTransport } from "../../src/upstream/credentials/transport.ts";
import { UpstreamFault } from "../../src/upstream/fault.ts";
import { type Asked, CALL, startTokenServer } from "../support/token-server.ts";

const server = startTokenServer();
const { asked, config, file, origin } = server;

beforeEach(() => {
  asked.length = 0;
});
afterAll(() => server.stop());

const pair = await generateKeyPair("RS256", { extractable: true });
const ACCOUNT = {
  type: "service_account",
  client_email: "a@p.iam.example",
  private_key: await exportPKCS8(pair.privateKey),
  private_key_id: "kid-1",
};

test("an assertion of a service account is signed by its key, for the public address of the token server", async () => {
  server.answer(() => Response.json({ access_token: "ya29.one", expires_in: 3600 }));
  const clock = new FakeClock(Date.now());
  const path = file("account.json", JSON.stringify(ACCOUNT));
  const credential = await createCredential(config("google", { file: path, tokenUrl: `${origin}/token` }), clock);
  expect(await credential.headers(CALL)).toEqual({ authorization: "Bearer ya29.one" });
  expect(await credential.describe()).toBe("the service account a@p.iam.example");
  const { form } = asked[0] as Asked;
  expect(form.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
  const { payload, protectedHeader } = await jwtVerify(form.get("assertion") ?? "", pair.publicKey);
  expect(protectedHeader).toEqual({ alg: "RS256", typ: "JWT", kid: "kid-1" });
  expect(payload).toMatchObject({
    iss: ACCOUNT.client_email,
    aud: "https://oauth2.googleapis.com/token",
    scope: "https://www.googleapis.com/auth/cloud-platform",
  });
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600);
});

describe("each source of access tokens", () => {
  const person = {
    type: "authorized_user",
    client_id: "c",
    client_secret: "s",
    refresh_token: "r",
    quota_project_id: "q",
  };
  const client = { tenant: "t", clientId: "c", clientSecret: "s" };
  test.each<[string, CredentialConfig, string, Record<string, string>, Record<string, string>]>([
    [
      "a person's file",
      config("google", { json: JSON.stringify(person), tokenUrl: `${origin}/token` }),
      "POST /token",
      { grant_type: "refresh_token", refresh_token: "r" },
      {},
    ],
    [
      "Google's metadata server",
      config("google", { metadata: true, metadataUrl: origin }),
      "GET /computeMetadata/v1/instance/service-accounts/default/token",
      {},
      { "metadata-flavor": "Google" },
    ],
    [
      "a client's secret",
      config("entra", { ...client, tokenUrl: `${origin}/token` }),
      "POST /token",
      { grant_type: "client_credentials", client_id: "c", client_secret: "s", scope: "https://ai.azure.com/.default" },
      {},
    ],
    [
      "the tenant's address",
      config("entra", { ...client, environment: { AZURE_AUTHORITY_HOST: `${origin}/` } }),
      "POST /t/oauth2/v2.0/token",
      { client_secret: "s" },
      {},
    ],
    [
      "a workload identity",
      config("entra", {
        environment: {
          AZURE_AUTHORITY_HOST: origin,
          AZURE_TENANT_ID: "t",
          AZURE_CLIENT_ID: "c",
          AZURE_FEDERATED_TOKEN_FILE: file("federated", "f.jwt\n"),
        },
      }),
      "POST /t/oauth2/v2.0/token",
      { client_assertion: "f.jwt", client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" },
      {},
    ],
    [
      "a managed identity",
      config("entra", { metadataUrl: origin, clientId: "c" }),
      "GET /metadata/identity/oauth2/token?resource=https%3A%2F%2Fai.azure.com&client_id=c&api-version=2018-02-01",
      {},
      { metadata: "true" },
    ],
    [
      "a managed identity of an app service",
      config("entra", { metadata: true, environment: { IDENTITY_ENDPOINT: `${origin}/msi`, IDENTITY_HEADER: "h" } }),
      "GET /msi?resource=https%3A%2F%2Fai.azure.com&api-version=2019-08-01",
      {},
      { "x-identity-header": "h" },
    ],
  ])("%s", async (_name, values, request, form, headers) => {
    // One of them tells the end as a time, in text.
    server.answer(() =>
      Response.json({ access_token: "token", expires_on: String(Math.floor(new FakeClock().now() / 1000) + 3600) }),
    );
    const credential = await createCredential(values, new FakeClock());
    expect((await credential.headers(CALL))["authorization"]).toBe("Bearer token");
    expect((await credential.headers(CALL))["authorization"]).toBe("Bearer token");
    expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual([request]);
    const [one] = asked as [Asked];
    expect(Object.fromEntries([...one.form].filter(([name]) => name in form))).toEqual(form);
    for (const [name, value] of Object.entries(headers)) expect(one.headers.get(name)).toBe(value);
  });
});

describe("tokens are renewed without a request that waits or fails", () => {
  const values = config("google", { metadata: true, metadataUrl: origin });
  let count = 0;
  const token = (seconds: number) => () => Response.json({ access_token: `t${++count}`, expires_in: seconds });
  const sent = async (credential: Awaited<ReturnType<typeof createCredential>>) =>
    (await credential.headers(CALL))["authorization"];
  beforeEach(() => {
    count = 0;
  });

  test("many calls ask once", async () => {
    server.answer(token(3600));
    const credential = await createCredential(values, new FakeClock());
    const all = await Promise.all(Array.from({ length: 50 }, () => sent(credential)));
    expect(new Set(all)).toEqual(new Set(["Bearer t1"]));
    expect(asked).toHaveLength(1);
  });

  test("a server that stalls or fails does not hold calls while the old token lives", async () => {
    server.answer(token(3600));
    const clock = new FakeClock();
    const credential = await createCredential(values, clock);
    await sent(credential);
    const stalled = Promise.withResolvers<Response>();
    const reached = Promise.withResolvers<void>();
    server.answer(() => {
      reached.resolve();
      return stalled.promise;
    });
    clock.advance(3_300_000 - 1);
    await sent(credential);
    expect(asked).toHaveLength(1);
    clock.advance(1);
    expect(credential.headers(CALL)).toEqual({ authorization: "Bearer t1" });
    await reached.promise;
    expect(credential.headers(CALL)).toEqual({ authorization: "Bearer t1" });
    expect(asked).toHaveLength(2);
    stalled.resolve(new Response("no", { status: 400 }));
    // The flight of the refusal ends before the next one begins. The steps are small, so that the old token outlives the turns of the
    // event loop that the refusal takes.
    while (asked.length === 2) {
      clock.advance(50);
      expect(await sent(credential)).toMatch(/^Bearer t\d$/);
      server.answer(token(3600));
      await Bun.sleep(0);
    }
  });

  test("a token without time is for those who wait for it", async () => {
    server.answer(token(0));
    const credential = await createCredential(values, new FakeClock());
    expect(await Promise.all([sent(credential), sent(credential)])).toEqual(["Bearer t1", "Bearer t1"]);
    expect(await sent(credential)).toBe("Bearer t2");
  });

  test("a token of a minute serves for its minute, and is asked for once in its second half", async () => {
    server.answer(token(60));
    const clock = new FakeClock();
    const credential = await createCredential(values, clock);
    for (let second = 0; second < 30; second++) {
      expect(await sent(credential)).toBe("Bearer t1");
      clock.advance(1000);
    }
    expect(asked).toHaveLength(1);
    await Promise.all([sent(credential), sent(credential), sent(credential)]);
    while (asked.length < 2) await Bun.sleep(0);
    expect(asked).toHaveLength(2);
  });

  test("without a token, a failing server is asked again by the same call; refusals are not repeated", async () => {
    server.answer(() => (asked.length < 3 ? new Response("busy", { status: 503 }) : token(3600)()));
    const clock = new FakeClock();
    const credential = await createCredential(values, clock);
    expect(await sent(credential)).toBe("Bearer t1");
    expect(asked).toHaveLength(3);
    asked.length = 0;
    server.answer(() =>
      Response.json({ error: "invalid_grant", error_description: "secret-in-text" }, { status: 400 }),
    );
    const refused = await createCredential(values, clock);
    const errors = await Promise.all(Array.from({ length: 20 }, () => sent(refused).catch((error: unknown) => error)));
    const [error] = errors;
    expect(error).toBeInstanceOf(UpstreamFault);
    expect(error).toMatchObject({
      kind: "auth",
      message: "The metadata server answered with status 400 (invalid_grant).",
    });
    expect(await sent(refused).catch((again: unknown) => again)).toBe(error);
    expect(asked).toHaveLength(1);
  });

  test("a caller that leaves does not end the flight of the others", async () => {
    const gate = Promise.withResolvers<void>();
    server.answer(async () => {
      await gate.promise;
      return token(3600)();
    });
    const credential = await createCredential(values, new FakeClock());
    const left = new AbortController();
    const gone = Promise.resolve(credential.headers(CALL, left.signal)).catch((error: unknown) => error);
    const stays = sent(credential);
    left.abort("left");
    expect(await gone).toBe("left");
    gate.resolve();
    expect(await stays).toBe("Bearer t1");
  });

  test("a token that was revoked is fetched anew once, by one flight", async () => {
    server.answer(token(3600));
    const clock = new FakeClock();
    const credential = await createCredential(values, clock);
    const transport = credentialTransport(
      async (_url, init) =>
        new Response("x", {
          status: (init.headers as Record<string, string>)["authorization"] === "Bearer t1" ? 401 : 200,
        }),
      async () => credential,
    );
    await sent(credential);
    clock.advance(60_000);
    const statuses = await Promise.all(
      [1, 2, 3].map(async () => (await transport(CALL.url, { method: "POST", body: "{}" })).status),
    );
    expect(statuses).toEqual([200, 200, 200]);
    expect(asked).toHaveLength(2);
  });
});

describe("without any credential, the fault is the operator's and no outage", () => {
  const closed = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(null) });
  const nowhere = `127.0.0.1:${closed.port}`;
  closed.stop(true);
  test.each<[string, CredentialConfig, string]>([
    ["a profile that is not there", config("aws", { profile: "none" }), "auth"],
    ["a machine that is named", config("google", { metadataUrl: `http://${nowhere}` }), "unavailable"],
    ["no file", config("google", { file: "/nowhere/account.json" }), "auth"],
    ["no account in the file", config("google", { json: "{}" }), "auth"],
    ["a client without a secret", config("entra", { tenant: "t", clientId: "c" }), "auth"],
  ])("%s", async (_name, values, kind) => {
    const credential = await createCredential(values, new FakeClock());
    const error = await (async () => credential.headers(CALL))().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UpstreamFault);
    expect((error as UpstreamFault).kind).toBe(kind as UpstreamFault["kind"]);
  });

  test("nothing answers on the machine", async () => {
    const nothing = () => Promise.reject(new UpstreamFault("unavailable", "The metadata server could not be reached."));
    expect(await lastResort(false, nothing).catch((error: unknown) => error)).toMatchObject({ kind: "auth" });
    expect(await lastResort(true, nothing).catch((error: unknown) => error)).toMatchObject({ kind: "unavailable" });
  });
});
