import { describe, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import type { Annotations } from "../../src/config/fields.ts";
import { secretsOf } from "../../src/config/load.ts";
import { ConfigFile } from "../../src/config/schema.ts";
import { configFolder } from "./support.ts";

const { good, bad } = configFolder();

/** A file with a secret in every key that is one, and the list of these secrets. */
function fileOfSecrets(): { file: Record<string, unknown>; secrets: string[] } {
  const secrets: string[] = [];
  const fill = (schema: TSchema): unknown => {
    const node = schema as TSchema & Annotations;
    if (node.properties !== undefined) {
      const filled = Object.entries(node.properties).map(([key, child]) => [key, fill(child)] as const);
      const kept = filled.filter(([, value]) => value !== undefined);
      return kept.length === 0 ? undefined : Object.fromEntries(kept);
    }
    const value = Object.values(node.patternProperties ?? {})[0];
    if (value !== undefined) {
      const inside = fill(value);
      // The name is valid in every map: as a provider, a sign-in provider, an engine and a header.
      return inside === undefined ? undefined : { "x-auth": inside };
    }
    if (node.items !== undefined) {
      const inside = fill(node.items);
      return inside === undefined ? undefined : [inside];
    }
    if (node.secret !== true) return undefined;
    const secret = `top-secret-${secrets.length}`;
    secrets.push(secret);
    // A password within a URL.
    const scheme = ["smtp", "postgres", "redis"].find((name) => name === node.format);
    return scheme === undefined ? secret : `${scheme}://user:${secret}@host.example/name`;
  };
  return { file: fill(ConfigFile) as Record<string, unknown>, secrets };
}

test("secretsOf knows every key that the schema calls a secret", () => {
  const { file, secrets } = fileOfSecrets();
  expect(secrets.length).toBeGreaterThanOrEqual(8);
  const providers = file["providers"] as Record<string, object>;
  providers["x-auth"] = { ...providers["x-auth"], base_url: "http://user:url%20pw@host/v1" };
  const oauth = (file["auth"] as { oauth: Record<string, object> }).oauth;
  oauth["x-auth"] = { ...oauth["x-auth"], client_id: "c", issuer: "https://x" };
  const search = file["search"] as { engines: Record<string, object> };
  // Only known engines are allowed as names.
  search.engines = { github: search.engines["x-auth"] as object };
  // A server has either an address or a command, and names of variables have no hyphen.
  const mcp = file["mcp"] as { servers: Record<string, { env: Record<string, string>; headers: object }> };
  const { env, headers } = mcp.servers["x-auth"]!;
  const local = { command: ["program"], env: { X_AUTH: env["x-auth"] } };
  Object.assign(mcp, { servers: { far: { url: "https://x", headers }, local } });
  const [guardrail] = file["guardrails"] as [{ check: object }];
  const webhook = { ...guardrail.check, kind: "webhook", url: "http://user:hook%20pw@host" };
  file["guardrails"] = [{ ...guardrail, name: "g", check: webhook }];
  const known = secretsOf(good(JSON.stringify(file)));
  for (const secret of [...secrets, "url pw", "hook pw"]) expect(known).toContain(secret);
});

test("secretsOf takes a scheme off, and leaves headers that are no secret", () => {
  const config = good(
    "providers: {x: {base_url: 'http://x', headers: {Authorization: Bearer abc, X-Title: Sallyport}}}",
  );
  expect(secretsOf(config)).toEqual(["Bearer abc", "abc"]);
});

describe("no problem shows a secret", () => {
  const secret = "hunter2-very-secret";
  const cases: string[] = [
    `server: {metrics: {token: [${secret}]}}`,
    `auth: {jwt_secret: {a: ${secret}}}`,
    `email: {smtp_url: "${secret}"}`,
    `email: {smtp_url: "http://u:${secret}@h"}`,
    `providers: {openai: {api_keys: ${secret}}}`,
    `providers: {openai: {api_key: [${secret}]}}`,
    `providers: {openai: ${secret}}`,
    `providers: [${secret}]`,
    `providers: {openai: {headers: {Authorization: "a\\n${secret}"}}}`,
    `providers: {openai: {base_url: "ftp://user:${secret}@host"}}`,
    `providers: {openai: {base_url: "user:${secret}@host"}}`,
    `providers: {openai: {base_url: "sk-${secret}"}}`,
    `server: {host: "sk-${secret} x"}`,
    `server: {host: "Bearer ${secret}"}`,
    `sk-${secret}: 1`,
    `search: {engines: {github: {api_key: 5, base_url: "\${MY_API_KEY}"}}}`,
    `server: {port: "\${MY_API_KEY}"}`,
    `a: [1\nb: ${secret}`,
  ];
  test.each(cases)("%s", (text) => {
    const problems = bad(text, { env: { MY_API_KEY: secret } });
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.join("\n")).not.toContain("hunter2");
  });
  test("given from the environment", () => {
    const env = { SALLYPORT_PROVIDERS_X_HEADERS: `{"a": "b\\n${secret}"`, SALLYPORT_EMAIL_SMTP_URL: secret };
    const problems = bad("providers: {x: {base_url: 'http://x'}}", { env });
    expect(problems).toHaveLength(2);
    expect(problems.join("\n")).not.toContain("hunter2");
  });
});

test("secretsOf knows the secrets of the environment that a credential uses, and no paths and names", () => {
  const env = {
    AWS_REGION: "r",
    AWS_ACCESS_KEY_ID: "id",
    AWS_SECRET_ACCESS_KEY: "secret-1",
    AWS_SESSION_TOKEN: "secret-2",
  };
  const files = { AWS_WEB_IDENTITY_TOKEN_FILE: "/path", AZURE_CLIENT_SECRET: "secret-3" };
  const config = good("providers: {x: {base_url: 'http://x', credentials: {kind: aws}}}", {
    env: { ...env, ...files },
  });
  expect(secretsOf(config).sort()).toEqual(["secret-1", "secret-2", "secret-3"]);
});

test("the secrets within the text of a key file are known one by one, as they are and as JSON has them", () => {
  const key = "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n";
  const account = {
    type: "service_account",
    private_key_id: "public-id",
    private_key: key,
    client_email: "a@b.example",
  };
  const user = {
    type: "impersonated",
    source_credentials: { client_secret: "inner-secret", refresh_token: "inner-token" },
  };
  const of = (json: string) =>
    secretsOf(
      good(JSON.stringify({ providers: { x: { base_url: "https://x", credentials: { kind: "google", json } } } })),
    );
  expect(of(JSON.stringify(account))).toEqual(expect.arrayContaining([key, key.replaceAll("\n", "\\n")]));
  expect(of(JSON.stringify(user))).toEqual(expect.arrayContaining(["inner-secret", "inner-token"]));
  for (const known of ["public-id", "a@b.example", "service_account"])
    expect(of(JSON.stringify(account))).not.toContain(known);
  expect(of("no JSON")).toContain("no JSON");
});
