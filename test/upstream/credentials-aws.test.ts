// Signatures, checked by the vendor's own implementation, and the places where access keys are found.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { Sha256 } from "@aws-crypto/sha256-js";
import { SignatureV4 } from "@smithy/signature-v4";
import { FakeClock } from "../../src/base/clock.ts";
import type { CredentialConfig } from "../../src/config/schema.ts";
import type { OutgoingCall } from "../../src/upstream/credentials/credential.ts";
import { createCredential } from "../../src/upstream/credentials/index.ts";
import { credentialTransport } from "../../src/upstream/credentials/transport.ts";
import { CALL, startTokenServer } from "../support/token-server.ts";

const server = startTokenServer();
const { config, file, origin } = server;

afterAll(() => server.stop());

const KEYS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };

/** The `authorization` of the same call by the vendor's own implementation. */
async function reference(call: OutgoingCall, sent: Readonly<Record<string, string>>, service: string): Promise<string> {
  const { hostname, port, pathname, searchParams } = new URL(call.url);
  const sessionToken = sent["x-amz-security-token"];
  const signer = new SignatureV4({
    service,
    region: "us-west-2",
    sha256: Sha256,
    credentials: { ...KEYS, ...(sessionToken === undefined ? {} : { sessionToken }) },
  });
  const time = sent["x-amz-date"] ?? "";
  const signingDate = new Date(time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  const { headers } = await signer.sign(
    {
      method: call.method,
      protocol: "https:",
      hostname,
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: { ...call.headers, host: hostname + (port === "" ? "" : `:${port}`) },
      ...(call.body === undefined ? {} : { body: call.body }),
    },
    { signingDate },
  );
  return headers["authorization"] ?? "";
}

describe("signatures equal those of the vendor's own implementation", () => {
  test.each<[string, Partial<OutgoingCall>, Partial<CredentialConfig>]>([
    ["a colon in the path", {}, {}],
    ["an encoded colon and slash", { url: "https://host.example/model/arn%3Aaws%2Fx/invoke" }, {}],
    ["a query", { method: "GET", url: "https://host.example/models?b=2&a=1%20x&c=%2F", body: undefined }, {}],
    [
      "names in a query that begin with one another",
      { method: "GET", url: "https://host.example/models?a1=3&a-b=2&a=1", body: undefined },
      {},
    ],
    [
      "a port, bytes and another service",
      { url: "http://127.0.0.1:8080/v1/a!'()*", body: new Uint8Array([0, 255]) },
      { service: "bedrock-mantle" },
    ],
    ["temporary keys", {}, { sessionToken: "session+/=" }],
  ])("%s", async (_name, changes, values) => {
    const call = { ...CALL, ...changes };
    const credential = await createCredential(config("aws", { ...KEYS, ...values }), new FakeClock());
    const sent = await credential.headers(call);
    expect(sent["authorization"]).toBe(await reference(call, sent, values.service ?? "bedrock"));
  });
});

const END = new Date(new FakeClock().now() + 3_600_000).toISOString();
const TEMPORARY = { AccessKeyId: "AKIDROLE", SecretAccessKey: "s", Token: "role-token", Expiration: END };

describe("access keys are found in this order", () => {
  const shared = file(
    "shared",
    "[default]\naws_access_key_id = AKIDSHARED\naws_secret_access_key=s\n[work]\naws_access_key_id = AKIDWORK\naws_secret_access_key = s\n",
  );
  const variables = { AWS_ACCESS_KEY_ID: "AKIDENV", AWS_SECRET_ACCESS_KEY: "s" };
  const identity = {
    AWS_WEB_IDENTITY_TOKEN_FILE: file("identity", "a.jwt\n"),
    AWS_ROLE_ARN: "arn:aws:iam::1:role/r",
    AWS_ENDPOINT_URL_STS: `${origin}/sts`,
  };
  const container = {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${origin}/container`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: "container-token",
  };
  const instance = { AWS_EC2_METADATA_SERVICE_ENDPOINT: origin };
  const all = { ...instance, ...container, ...identity, AWS_SHARED_CREDENTIALS_FILE: shared, ...variables };

  beforeEach(() => {
    server.answer(({ path, method, headers, form }) => {
      if (path === "/container" && headers.get("authorization") === "container-token")
        return Response.json({ ...TEMPORARY, AccessKeyId: "AKIDCONTAINER" });
      if (path === "/sts" && form.get("WebIdentityToken") === "a.jwt")
        return new Response(
          `<r><Credentials><AccessKeyId>AKIDWEB</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>${END}</Expiration></Credentials></r>`,
        );
      if (path === "/latest/api/token" && method === "PUT") return new Response("imds-token");
      if (headers.get("x-aws-ec2-metadata-token") !== "imds-token") return new Response(null, { status: 401 });
      return path.endsWith("/my-role") ? Response.json(TEMPORARY) : new Response("my-role\n");
    });
  });

  test.each<[string, string, Partial<CredentialConfig>]>([
    ["AKIDEXAMPLE", "access keys of the configuration", { ...KEYS, environment: all }],
    ["AKIDWORK", "the shared profile work", { profile: "work", environment: all }],
    ["AKIDENV", "access keys of the environment", { environment: all }],
    ["AKIDSHARED", "the shared profile default", { environment: { ...identity, AWS_SHARED_CREDENTIALS_FILE: shared } }],
    ["AKIDWEB", "the role arn:aws:iam::1:role/r by web identity", { environment: { ...identity, ...container } }],
    ["AKIDCONTAINER", "the role of the container", { environment: { ...container, ...instance } }],
    ["AKIDROLE", "the role of the instance", { environment: instance }],
    ["AKIDROLE", "the role of the instance", { environment: {}, metadataUrl: origin }],
  ])("%s from %s", async (id, name, values) => {
    const { HOME: _home, ...environment } = { HOME: "", ...values.environment };
    const credential = await createCredential(config("aws", { ...values, environment }), new FakeClock());
    const sent = await credential.headers(CALL);
    expect(sent["authorization"]).toContain(`Credential=${id}/`);
    expect(await credential.describe()).toBe(name);
  });

  test.each([
    ["role_arn = arn:aws:iam::1:role/r\nsource_profile = default", "role_arn"],
    ["sso_session = mine\nsso_role_name = r", "sso_session"],
    ["credential_process = /bin/true", "credential_process"],
  ])("a profile with %j says that it has no keys and what is not used", async (lines, way) => {
    const settings = file("settings", `[profile work]\n${lines}\n`);
    const environment = { AWS_CONFIG_FILE: settings, AWS_SHARED_CREDENTIALS_FILE: "/nowhere" };
    const credential = await createCredential(config("aws", { profile: "work", environment }), new FakeClock());
    const error = await Promise.resolve(credential.headers(CALL)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      kind: "auth",
      message: `There are no access keys in the shared profile work, and its ${way} is not used: see "aws configure export-credentials".`,
    });
  });

  test("none", async () => {
    const credential = await createCredential(
      config("aws", { environment: { AWS_EC2_METADATA_DISABLED: "true" } }),
      new FakeClock(),
    );
    const error = await Promise.resolve(credential.headers(CALL)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: "auth", message: "There are no access keys." });
  });
});

test("a clock that differs from the server's is answered by one more attempt with the server's date", async () => {
  const clock = new FakeClock();
  const serverMs = clock.now() + 3_600_000;
  const credential = await createCredential(config("aws", KEYS), clock);
  const dates: (string | undefined)[] = [];
  const transport = credentialTransport(
    async (_url, init) => {
      const date = (init.headers as Record<string, string>)["x-amz-date"];
      dates.push(date);
      const isRight = date === new Date(serverMs).toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
      return new Response("x", { status: isRight ? 200 : 403, headers: { date: new Date(serverMs).toUTCString() } });
    },
    async () => credential,
  );
  expect((await transport(CALL.url, { method: "POST", body: "{}" })).status).toBe(200);
  expect((await transport(CALL.url, { method: "POST", body: "{}" })).status).toBe(200);
  expect(dates).toHaveLength(3);
});

test("another refusal of a signed call is not tried again", async () => {
  const clock = new FakeClock();
  const credential = await createCredential(config("aws", KEYS), clock);
  let calls = 0;
  const transport = credentialTransport(
    async () => {
      calls++;
      return new Response("x", { status: 403, headers: { date: new Date(clock.now() + 60_000).toUTCString() } });
    },
    async () => credential,
  );
  expect((await transport(CALL.url, { method: "POST", body: "{}" })).status).toBe(403);
  expect(calls).toBe(1);
});
