// Access tokens of Entra ID: by a client's secret, by a workload's own token, or by the machine's managed identity.

import type { Clock } from "../../base/clock.ts";
import type { CredentialConfig } from "../../config/schema.ts";
import { ENTRA } from "../../vendors/token-servers.ts";
import { UpstreamFault } from "../fault.ts";
import { readCredentialFile } from "./aws.ts";
import { bearerCredential, type TokenSource } from "./bearer.ts";
import type { Credential } from "./credential.ts";
import type { Token } from "./renewed-token.ts";
import { accessTokenIn, askTokenServer, lastResort, OF_MACHINE } from "./token-request.ts";

/** Sends access tokens. */
export function entraCredential(config: CredentialConfig, clock: Clock): Credential {
  return bearerCredential(async () => sourceOf(config, clock), clock);
}

function sourceOf(config: CredentialConfig, clock: Clock): TokenSource {
  const { environment: env } = config;
  const tenant = config.tenant || env["AZURE_TENANT_ID"];
  const clientId = config.clientId || env["AZURE_CLIENT_ID"];
  const secret = config.clientSecret || env["AZURE_CLIENT_SECRET"];
  const assertionFile = env["AZURE_FEDERATED_TOKEN_FILE"];
  const known = { config, clock, tenant: tenant ?? "", clientId: clientId ?? "" };
  if (!config.metadata && tenant && clientId && secret) {
    return { name: `the client ${clientId}`, fetch: () => fromAuthority(known, { client_secret: secret }) };
  }
  if (!config.metadata && tenant && clientId && assertionFile) {
    return {
      name: `the workload identity ${clientId}`,
      fetch: async () =>
        fromAuthority(known, {
          client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
          client_assertion: (await readCredentialFile(assertionFile)).trim(),
        }),
    };
  }
  if (config.clientSecret !== "" || config.tenant !== "") {
    throw new UpstreamFault("auth", "Entra ID needs credentials.tenant, client_id and client_secret.");
  }
  return { name: "the managed identity", fetch: () => fromMachine(known) };
}

interface Known {
  readonly config: CredentialConfig;
  readonly clock: Clock;
  readonly tenant: string;
  readonly clientId: string;
}

function scopeOf({ scope }: CredentialConfig): string {
  return scope || ENTRA.scope;
}

async function fromAuthority(
  { config, clock, tenant, clientId }: Known,
  proof: Readonly<Record<string, string>>,
): Promise<Token<string>> {
  const server = "the token server";
  const authority = (config.environment["AZURE_AUTHORITY_HOST"] || ENTRA.authority).replace(/\/+$/, "");
  const text = await askTokenServer({
    server,
    url: config.tokenUrl || `${authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`,
    form: { grant_type: "client_credentials", client_id: clientId, ...proof, scope: scopeOf(config) },
  });
  return accessTokenIn(text, server, clock.now());
}

/** App services have a server of their own; machines have the instance's. */
async function fromMachine({ config, clock, clientId }: Known): Promise<Token<string>> {
  const { IDENTITY_ENDPOINT: service, IDENTITY_HEADER: header } = config.environment;
  const server = "the machine's identity server";
  const query = new URLSearchParams({ resource: scopeOf(config).replace(/\/\.default$/, "") });
  if (clientId !== "") query.set("client_id", clientId);
  const isService = service && header && config.metadataUrl === "";
  query.set("api-version", isService ? "2019-08-01" : "2018-02-01");
  const base = isService
    ? service
    : `${(config.metadataUrl || ENTRA.instance).replace(/\/+$/, "")}/metadata/identity/oauth2/token`;
  const headers: Record<string, string> = isService ? { "x-identity-header": header } : { metadata: "true" };
  const isMeant = Boolean(isService) || config.metadata || config.metadataUrl !== "";
  const question = { ...OF_MACHINE, server, url: `${base}?${query}`, headers };
  return accessTokenIn(await lastResort(isMeant, () => askTokenServer(question)), server, clock.now());
}
