// Calls over the gateway's own client with a credential: what arrives is authenticated whatever form the body has, a refusal leads to
// one more attempt, and a call ends at once while it waits for a token.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { Sha256 } from "@aws-crypto/sha256-js";
import { SignatureV4 } from "@smithy/signature-v4";
import { FakeClock } from "../../src/base/clock.ts";
import { createWireClient, type WireCall } from "../../src/upstream/connection/client.ts";
import { OwnAnswer } from "../../src/upstream/connection/own-answer.ts";
import { credentialClient } from "../../src/upstream/credentials/client.ts";
import { createCredential } from "../../src/upstream/credentials/index.ts";
import { startTokenServer } from "../support/token-server.ts";

interface Arrived {
  readonly headers: Headers;
  readonly text: string;
}

const tokens = startTokenServer();
const arrived: Arrived[] = [];
let reply: (one: Arrived) => Response = () => new Response("ok");
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const one = { headers: request.headers, text: await request.text() };
    arrived.push(one);
    return reply(one);
  },
});
const wire = createWireClient();
afterAll(async () => {
  wire.close();
  await Promise.all([tokens.stop(), upstream.stop(true)]);
});
beforeEach(() => {
  arrived.length = 0;
  tokens.asked.length = 0;
  reply = () => new Response("ok");
});

const KEYS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret", region: "us-west-2", service: "bedrock" };
const late = () => new Error("late");
const callOf = (more: Partial<WireCall> = {}): WireCall => ({
  method: "POST",
  url: `${upstream.url.origin}/v1/chat`,
  headers: { "Content-Type": "application/json", "X-Extra": " a " },
  body: '{"a":"é"}',
  connectMs: 5000,
  firstByteMs: 60_000,
  late,
  ...more,
});

const signing = () => credentialClient(wire, () => createCredential(tokens.config("aws", KEYS)));
const bearing = (clock = new FakeClock()) =>
  credentialClient(wire, () =>
    createCredential(tokens.config("google", { metadata: true, metadataUrl: tokens.origin }), clock),
  );
const answerOf = async (client: ReturnType<typeof signing>, call = callOf()) =>
  new OwnAnswer(await client.call(call).answer);

/** Whether the vendor's own implementation makes the same signature of what arrived. */
async function isSigned({ headers, text }: Arrived): Promise<boolean> {
  const said = headers.get("authorization") ?? "";
  const names = /SignedHeaders=([^,]+)/.exec(said)?.[1]?.split(";") ?? [];
  const date = (headers.get("x-amz-date") ?? "").replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z");
  const credentials = { accessKeyId: KEYS.accessKeyId, secretAccessKey: KEYS.secretAccessKey };
  const signer = new SignatureV4({ service: "bedrock", region: "us-west-2", sha256: Sha256, credentials });
  const signed = await signer.sign(
    {
      method: "POST",
      protocol: "http:",
      hostname: upstream.url.hostname,
      path: "/v1/chat",
      headers: Object.fromEntries(names.map((name) => [name, headers.get(name) ?? ""])),
      body: text,
    },
    { signingDate: new Date(date) },
  );
  return names.includes("x-extra") && signed.headers["authorization"] === said;
}

const bytes = Buffer.from('{"a":"é"}');
const pieces = () => {
  const left = [bytes.subarray(0, 4), bytes.subarray(4)];
  return { type: "application/json", length: undefined, next: async () => left.shift() };
};

test.each<[string, () => Partial<WireCall>]>([
  ["a text", () => ({})],
  ["bytes", () => ({ body: bytes })],
  ["parts of bytes", () => ({ body: [bytes.subarray(0, 7), bytes.subarray(7)] })],
  ["bytes that arrive", () => ({ body: undefined, upload: pieces() })],
])("%s is signed as a whole", async (_name, more) => {
  expect((await answerOf(signing(), callOf(more()))).status).toBe(200);
  const [one] = arrived as [Arrived];
  expect(one.text).toBe('{"a":"é"}');
  expect(await isSigned(one)).toBe(true);
});

test("one call fetches the token for all", async () => {
  tokens.answer(() => Response.json({ access_token: "t1", expires_in: 3600 }));
  const client = bearing();
  const all = await Promise.all(Array.from({ length: 20 }, () => answerOf(client)));
  expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  expect(new Set(arrived.map(({ headers }) => headers.get("authorization")))).toEqual(new Set(["Bearer t1"]));
  expect(tokens.asked).toHaveLength(1);
});

test.each([
  ["a revoked token is fetched anew", 401, [200, 2]],
  ["a forbidden call is not tried again", 403, [403, 1]],
] as const)("after a refusal, %s: %p", async (_name, status, [ends, calls]) => {
  let count = 0;
  tokens.answer(() => Response.json({ access_token: `t${++count}`, expires_in: 3600 }));
  const clock = new FakeClock();
  const client = bearing(clock);
  await answerOf(client);
  clock.advance(60_000);
  arrived.length = 0;
  reply = ({ headers }) =>
    headers.get("authorization") === "Bearer t1" ? new Response("no", { status }) : new Response("ok");
  expect((await answerOf(client)).status).toBe(ends);
  expect(arrived).toHaveLength(calls);
});

test("a refused signature is tried once more with the server's date", async () => {
  const serverMs = Date.now() + 3_600_000;
  const day = new Date(serverMs).toISOString().slice(0, 13).replaceAll(/[-:]/g, "");
  reply = ({ headers }) =>
    new Response("x", {
      status: headers.get("x-amz-date")?.startsWith(day) === true ? 200 : 403,
      headers: { date: new Date(serverMs).toUTCString() },
    });
  expect((await answerOf(signing())).status).toBe(200);
  expect(arrived).toHaveLength(2);
});

test("a call that is stopped or late while it waits for a token ends at once, and never reaches the provider", async () => {
  const gate = Promise.withResolvers<Response>();
  const reached = Promise.withResolvers<void>();
  tokens.answer(() => {
    reached.resolve();
    return gate.promise;
  });
  const client = bearing();
  const stopped = client.call(callOf());
  const patient = client.call(callOf());
  const impatient = client.call(callOf({ firstByteMs: 20 }));
  await reached.promise;
  stopped.stop("left");
  expect(await stopped.answer.catch((reason: unknown) => reason)).toBe("left");
  expect(await impatient.answer.catch((error: Error) => error.message)).toBe("late");
  expect(arrived).toHaveLength(0);
  gate.resolve(Response.json({ access_token: "t1", expires_in: 3600 }));
  expect(new OwnAnswer(await patient.answer).status).toBe(200);
  expect(arrived).toHaveLength(1);
});

test("without a credential the call fails as the credential does", async () => {
  tokens.answer(() => Response.json({ error: "invalid_grant" }, { status: 400 }));
  const error = await answerOf(bearing()).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: "auth" });
  expect(arrived).toHaveLength(0);
});
