// Google's access tokens: of a service account's file, of a person's file as the command line tool writes it, or of the machine.

import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { CredentialConfig } from "../../config/schema.ts";
import { GOOGLE } from "../../vendors/token-servers.ts";
import { parseRecord } from "../dialects/loose.ts";
import { UpstreamFault } from "../fault.ts";
import { readCredentialFile } from "./aws.ts";
import { bearerCredential, type TokenSource } from "./bearer.ts";
import type { Credential } from "./credential.ts";
import type { Token } from "./renewed-token.ts";
import { accessTokenIn, askTokenServer, lastResort, OF_MACHINE } from "./token-request.ts";

/** The longest time that the server accepts. */
const ASSERTION_SECONDS = 3600;

const SERVER = "the token server";

type Members = Readonly<Record<string, unknown>>;

/** Sends access tokens. */
export function googleCredential(config: CredentialConfig, clock: Clock): Credential {
  return bearerCredential(() => sourceOf(config, clock), clock);
}

async function sourceOf(config: CredentialConfig, clock: Clock): Promise<TokenSource> {
  const metadata = { name: "the machine's service account", fetch: () => byMetadata(config, clock) };
  if (config.metadata) return metadata;
  if (config.json !== "") return byFile(config.json, { where: "credentials.json", config, clock });
  const { GOOGLE_APPLICATION_CREDENTIALS: named = "", HOME = "/" } = config.environment;
  const file = config.file || named;
  if (file !== "") return byFile(await readCredentialFile(file), { where: file, config, clock });
  const usual = join(HOME, ".config/gcloud/application_default_credentials.json");
  const text = await readCredentialFile(usual).catch(() => undefined);
  return text === undefined ? metadata : byFile(text, { where: usual, config, clock });
}

function byFile(
  text: string,
  { where, config, clock }: { where: string; config: CredentialConfig; clock: Clock },
): TokenSource {
  const members = parseRecord(text);
  const quota = members?.["quota_project_id"];
  const headers = typeof quota === "string" ? { "x-goog-user-project": quota } : {};
  switch (members?.["type"]) {
    case "service_account":
      return {
        name: `the service account ${String(members["client_email"])}`,
        headers,
        fetch: () => byAssertion(members, { config, clock }),
      };
    case "authorized_user":
      return { name: `the account in ${where}`, headers, fetch: () => byRefresh(members, { config, clock }) };
    default:
      throw new UpstreamFault("auth", `${where} holds no service account and no authorized user.`);
  }
}

async function byAssertion(
  members: Members,
  { config, clock }: { config: CredentialConfig; clock: Clock },
): Promise<Token<string>> {
  const { importPKCS8, SignJWT } = await import("jose");
  const nowSeconds = Math.floor(clock.now() / 1000);
  const kid = members["private_key_id"];
  const assertion = await importPKCS8(String(members["private_key"]), "RS256").then(
    (key) =>
      new SignJWT({ scope: GOOGLE.scope })
        .setProtectedHeader({ alg: "RS256", typ: "JWT", ...(typeof kid === "string" ? { kid } : {}) })
        .setIssuer(String(members["client_email"]))
        .setAudience(GOOGLE.tokens)
        .setIssuedAt(nowSeconds)
        .setExpirationTime(nowSeconds + ASSERTION_SECONDS)
        .sign(key),
    () => {
      // The cause could quote the key.
      throw new UpstreamFault("auth", "The private key of the service account cannot be read.");
    },
  );
  return tokenFor({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion }, { config, clock });
}

function byRefresh(members: Members, by: { config: CredentialConfig; clock: Clock }): Promise<Token<string>> {
  const text = (name: string) => String(members[name] ?? "");
  return tokenFor(
    {
      grant_type: "refresh_token",
      client_id: text("client_id"),
      client_secret: text("client_secret"),
      refresh_token: text("refresh_token"),
    },
    by,
  );
}

async function tokenFor(
  form: Readonly<Record<string, string>>,
  { config, clock }: { config: CredentialConfig; clock: Clock },
): Promise<Token<string>> {
  const text = await askTokenServer({ server: SERVER, url: config.tokenUrl || GOOGLE.tokens, form });
  return accessTokenIn(text, SERVER, clock.now());
}

async function byMetadata(
  { metadata, metadataUrl, environment }: CredentialConfig,
  clock: Clock,
): Promise<Token<string>> {
  const server = "the metadata server";
  const host = environment["GCE_METADATA_HOST"];
  const origin = metadataUrl || (host ? `http://${host}` : GOOGLE.metadata);
  const isMeant = metadata || metadataUrl !== "" || Boolean(host);
  const question = {
    ...OF_MACHINE,
    server,
    url: `${origin.replace(/\/+$/, "")}/computeMetadata/v1/instance/service-accounts/default/token`,
    headers: { "metadata-flavor": "Google" },
  };
  const text = await lastResort(isMeant, () => askTokenServer(question));
  return accessTokenIn(text, server, clock.now());
}
