// Creates providers from the configuration.

import { sha256Hex } from "../base/ids.ts";
import { lazily } from "../base/lazily.ts";
import type { ProviderConfig } from "../config/schema.ts";
import { findVendor } from "../vendors/look-up.ts";
import { kindFacts } from "../vendors/protocols.ts";
import type { Quirks } from "../vendors/quirks.ts";
import type { WireClient } from "./connection/client.ts";
import { networkClient, networkTransport } from "./connection/network.ts";
import type { Credential } from "./credentials/credential.ts";
import type { Dialect } from "./dialect.ts";
import { DIALECTS } from "./dialects/index.ts";
import { openaiResponses } from "./dialects/responses/dialect.ts";
import { endUserScope } from "./end-user.ts";
import { CredentialPool, type Provider, type ProviderCard, type Transport } from "./provider.ts";
import { cardFor, embeddedCard } from "./providers/index.ts";

const fetchTransport: Transport = (url, init) => fetch(url, init);

/** How requests are sent over the network. Without a client, `transport` uses the platform's. */
export function network(connectMs: number): Pick<Provider, "client" | "transport"> {
  const client = networkClient();
  return { client, transport: client === undefined ? fetchTransport : networkTransport(client, connectMs) };
}

/** Creates the chat provider of a configuration entry; undefined for kinds that only answer decisions. */
export function configureProvider(config: ProviderConfig): Provider | undefined {
  const { dialect: name } = kindFacts(config.kind);
  const dialect: Dialect | undefined = name === undefined ? undefined : DIALECTS.find((one) => one.name === name);
  if (name === undefined || dialect === undefined) return undefined;
  const embedded = embeddedCard(config.kind);
  const card = embedded?.card ?? cardFor(config.preset, name);
  const quirks: Quirks = { ...card.quirks, ...config.quirks };
  const provider: Provider = {
    name: config.name,
    dialect,
    card,
    minter: minterOf(config, card),
    baseUrl: config.baseUrl,
    quirks,
    endUsers: endUserScope(config.endUsers, quirks),
    extraHeaders: config.headers,
    keys: new CredentialPool(config.apiKeys),
    timeoutsMs: config.timeoutMs,
    retry: { attempts: config.retry.attempts, baseMs: config.retry.baseMs, maxMs: config.retry.maxMs },
    ...(embedded === undefined ? connectionOf(config) : { client: undefined, transport: embedded.transport }),
    embedded: embedded !== undefined,
  };
  const cloud = findVendor(config.preset)?.api.cloud;
  if (cloud !== undefined) return clouds()(config, cloud, provider);
  if (name !== "openai-chat" || quirks.responses !== true) return provider;
  const other = cardFor(config.preset, "openai-responses");
  const byResponses = { ...provider, dialect: openaiResponses, card: other };
  return { ...provider, byResponses: { ...byResponses, quirks: { ...other.quirks, ...config.quirks } } };
}

/** Loaded by the first cloud. */
const clouds = lazily(() => {
  const { cloudProvider }: typeof import("./clouds/cloud-provider.ts") = require("./clouds/cloud-provider.ts");
  return cloudProvider;
});

/** How calls are sent. What a credential that is more than a key needs is loaded at the first call. */
function connectionOf({ credentials, timeoutMs }: ProviderConfig): Pick<Provider, "client" | "transport"> {
  const plain = network(timeoutMs.connect);
  if (credentials === undefined || credentials.kind === "key") return plain;
  // Both ways have one credential, so that a token is fetched once.
  const credential = lazily(async () => (await import("./credentials/index.ts")).createCredential(credentials));
  const transport = lazily(async () => {
    const { credentialTransport } = await import("./credentials/transport.ts");
    return credentialTransport(plain.transport, credential);
  });
  return {
    client: plain.client === undefined ? undefined : authenticated(plain.client, credential),
    transport: async (url, init) => (await transport())(url, init),
  };
}

function authenticated(client: WireClient, credential: () => Promise<Credential>): WireClient {
  const made = lazily(() => {
    const { credentialClient }: typeof import("./credentials/client.ts") = require("./credentials/client.ts");
    return credentialClient(client, credential);
  });
  return {
    call: (call) => made().call(call),
    get state() {
      return client.state;
    },
    close: () => client.close(),
  };
}

/**
 * Identifies who can read sealed values, since another entry may use another account. It is short and without secrets, because it
 * becomes part of what clients return.
 */
function minterOf({ name, baseUrl }: ProviderConfig, card: ProviderCard): string {
  if (card.portableSeals === true && baseUrl === card.baseUrl) return card.name;
  return sha256Hex(`${card.dialect} ${baseUrl} ${name}`).slice(0, 12);
}
