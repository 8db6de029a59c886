// Access keys for Signature Version 4: from the configuration, the environment, a shared profile, a web identity, a container or
// the instance, in this order.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { whenThere } from "../../base/at-once.ts";
import type { Clock } from "../../base/clock.ts";
import type { CredentialConfig } from "../../config/schema.ts";
import { AWS } from "../../vendors/token-servers.ts";
import { parseRecord } from "../dialects/loose.ts";
import { UpstreamFault } from "../fault.ts";
import type { Credential } from "./credential.ts";
import { RenewedToken, type Token } from "./renewed-token.ts";
import { type AccessKeys, signatureV4 } from "./signature-v4.ts";
import { askTokenServer, lastResort, OF_MACHINE, unusable } from "./token-request.ts";

/** A signature of a clock that differs by more is refused; smaller differences have another reason. */
const SKEW_MS = 4 * 60_000;

/** Where keys come from. */
interface Source {
  readonly name: string;
  readonly fetch: () => Promise<Token<AccessKeys>>;
}

/** Signs calls. */
export function awsCredential(config: CredentialConfig, clock: Clock): Credential {
  const { region, service } = config;
  let source: Source | undefined;
  const keys = new RenewedToken(async () => {
    source = await sourceOf(config, clock);
    return source.fetch();
  }, clock);
  let skewMs = 0;
  return {
    headers: (call, signal) =>
      whenThere(keys.get(signal), (found) =>
        signatureV4(call, found, { region, service: service || AWS.service, nowMs: clock.now() + skewMs }),
      ),
    refused(answer) {
      const serverMs = Date.parse(answer.headers.get("date") ?? "");
      const offMs = serverMs - clock.now();
      if (Number.isNaN(serverMs) || Math.abs(offMs - skewMs) < SKEW_MS) return false;
      skewMs = offMs;
      return true;
    },
    async describe() {
      await keys.get();
      return source?.name ?? "";
    },
  };
}

async function sourceOf(config: CredentialConfig, clock: Clock): Promise<Source> {
  const { environment: env } = config;
  const own = keysOf([config.accessKeyId, config.secretAccessKey, config.sessionToken]);
  if (own !== undefined) return fixed("access keys of the configuration", own);
  const named = config.profile !== "";
  const variables = keysOf([env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"], env["AWS_SESSION_TOKEN"]]);
  if (variables !== undefined && !named) return fixed("access keys of the environment", variables);
  const profile = config.profile || env["AWS_PROFILE"] || "default";
  const { keys: shared, other } = await readProfile(env, profile);
  if (shared !== undefined)
    return { ...fixed(`the shared profile ${profile}`, shared), fetch: async () => sharedToken(shared, clock) };
  if (named) throw new UpstreamFault("auth", `There are no access keys in the shared profile ${profile}${other}.`);
  const { AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile, AWS_ROLE_ARN: role } = env;
  if (tokenFile && role)
    return { name: `the role ${role} by web identity`, fetch: () => byWebIdentity(config, tokenFile, role) };
  const container = containerAddress(env);
  if (container !== undefined) return { name: "the role of the container", fetch: () => byContainer(env, container) };
  if (env["AWS_EC2_METADATA_DISABLED"]?.toLowerCase() === "true" && config.metadataUrl === "")
    throw new UpstreamFault("auth", "There are no access keys.");
  return {
    name: "the role of the instance",
    fetch: () => lastResort(isMachineNamed(config), () => byInstance(config)),
  };
}

function isMachineNamed({ environment, metadataUrl }: CredentialConfig): boolean {
  return metadataUrl !== "" || Boolean(environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"]);
}

function fixed(name: string, keys: AccessKeys): Source {
  return { name, fetch: async () => ({ value: keys, endsMs: Number.POSITIVE_INFINITY }) };
}

function keysOf([id, secret, sessionToken]: readonly (string | undefined)[]): AccessKeys | undefined {
  return id && secret ? { id, secret, sessionToken: sessionToken || undefined } : undefined;
}

/** How long the keys of a file are used before the file is read again, since other programs renew it. */
const FILE_MS = 10 * 60_000;

function sharedToken(keys: AccessKeys, clock: Clock): Token<AccessKeys> {
  return { value: keys, endsMs: clock.now() + FILE_MS };
}

/** What stands in a profile instead of keys, and needs the cloud's own tools. */
const OTHER_WAYS = /^(?:role_arn|credential_process|sso_session|sso_start_url|login_session)$/;

interface Profile {
  readonly keys?: AccessKeys;
  /** For people: what the profile has instead of keys. */
  readonly other: string;
}

/** A profile, from the file of credentials or the one of settings. */
async function readProfile(env: CredentialConfig["environment"], profile: string): Promise<Profile> {
  let way: string | undefined;
  const folder = join(env["HOME"] ?? "/", ".aws");
  const files = [
    [env["AWS_SHARED_CREDENTIALS_FILE"] || join(folder, "credentials"), profile],
    [env["AWS_CONFIG_FILE"] || join(folder, "config"), profile === "default" ? profile : `profile ${profile}`],
  ] as const;
  for (const [file, section] of files) {
    const text = await readFile(file, "utf8").catch(() => "");
    const found = sectionOf(text, section);
    const keys = keysOf([
      found.get("aws_access_key_id"),
      found.get("aws_secret_access_key"),
      found.get("aws_session_token"),
    ]);
    if (keys !== undefined) return { keys, other: "" };
    way ??= [...found.keys()].find((name) => OTHER_WAYS.test(name));
  }
  const other = way === undefined ? "" : `, and its ${way} is not used: see "aws configure export-credentials"`;
  return { other };
}

/** The values of a section of an INI file. */
function sectionOf(text: string, wanted: string): Map<string, string> {
  const found = new Map<string, string>();
  let isIn = false;
  for (const line of text.split(/\r?\n/)) {
    const section = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (section !== undefined) isIn = section === wanted;
    const [, name, value] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (isIn && name !== undefined && value !== undefined) found.set(name.toLowerCase(), value);
  }
  return found;
}

async function byWebIdentity(config: CredentialConfig, tokenFile: string, role: string): Promise<Token<AccessKeys>> {
  const { environment: env, region } = config;
  const server = "the security token service";
  const token = (await readCredentialFile(tokenFile)).trim();
  const text = await askTokenServer({
    server,
    url: config.tokenUrl || env["AWS_ENDPOINT_URL_STS"] || AWS.sts(region),
    form: {
      Action: "AssumeRoleWithWebIdentity",
      Version: "2011-06-15",
      RoleArn: role,
      RoleSessionName: env["AWS_ROLE_SESSION_NAME"] || "sallyport",
      WebIdentityToken: token,
    },
  });
  const member = (name: string) => new RegExp(`<${name}>([^<]+)</${name}>`).exec(text)?.[1]?.trim();
  return session(
    [member("AccessKeyId"), member("SecretAccessKey"), member("SessionToken")],
    member("Expiration"),
    server,
  );
}

/** Reads a file of a credential. Its path is not secret, its text is. */
export async function readCredentialFile(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new UpstreamFault("auth", `The credential's file ${path} cannot be read.`, { cause });
  }
}

function containerAddress(env: CredentialConfig["environment"]): string | undefined {
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: path, AWS_CONTAINER_CREDENTIALS_FULL_URI: whole } = env;
  return path ? AWS.container + path : whole || undefined;
}

async function byContainer(env: CredentialConfig["environment"], url: string): Promise<Token<AccessKeys>> {
  const { AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file, AWS_CONTAINER_AUTHORIZATION_TOKEN: text } = env;
  const token = file ? (await readCredentialFile(file)).trim() : text;
  const server = "the container's credential server";
  return sessionIn(await askTokenServer({ server, url, headers: token ? { authorization: token } : {} }), server);
}

/** The second version of the instance's protocol: every question carries a token of the instance. */
async function byInstance({ environment: env, metadataUrl }: CredentialConfig): Promise<Token<AccessKeys>> {
  const server = "the instance's metadata server";
  const origin = (metadataUrl || env["AWS_EC2_METADATA_SERVICE_ENDPOINT"] || AWS.instance).replace(/\/+$/, "");
  const token = await askTokenServer({
    ...OF_MACHINE,
    server,
    url: `${origin}/latest/api/token`,
    method: "PUT",
    headers: { "x-aws-ec2-metadata-token-ttl-seconds": "300" },
  });
  const ask = (name: string) =>
    askTokenServer({
      ...OF_MACHINE,
      server,
      url: `${origin}/latest/meta-data/iam/security-credentials/${name}`,
      headers: { "x-aws-ec2-metadata-token": token.trim() },
    });
  const role = (await ask("")).trim().split("\n")[0] ?? "";
  return sessionIn(await ask(encodeURIComponent(role)), server);
}

function sessionIn(text: string, server: string): Token<AccessKeys> {
  const { AccessKeyId, SecretAccessKey, Token: sessionToken, Expiration } = parseRecord(text) ?? {};
  return session([AccessKeyId, SecretAccessKey, sessionToken], Expiration, server);
}

function session(values: readonly unknown[], end: unknown, server: string): Token<AccessKeys> {
  const keys = keysOf(values.map((value) => (typeof value === "string" ? value : undefined)));
  const endsMs = Date.parse(String(end));
  if (keys === undefined || Number.isNaN(endsMs)) throw unusable(server);
  return { value: keys, endsMs };
}
