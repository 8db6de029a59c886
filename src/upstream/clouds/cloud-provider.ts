// Makes the providers of a cloud: one for each way to reach its models, all with the same state, of which a request takes the one
// for its model.

import type { ProviderConfig } from "../../config/schema.ts";
import { type CloudFacts, type CloudOffer, cloudOrigin, filled } from "../../vendors/cloud.ts";
import { type DialectName, kindFacts } from "../../vendors/protocols.ts";
import type { Dialect } from "../dialect.ts";
import { DIALECTS } from "../dialects/index.ts";
import { endUserScope } from "../end-user.ts";
import type { ProtocolWish, Provider, ProviderCard } from "../provider.ts";
import { CARDS, cardFor } from "../providers/index.ts";
import { eventStreamTransport } from "./event-stream.ts";
import { shapedDialect, withCloudFaults } from "./shapes.ts";

/** The provider of a cloud's entry. What its entry has in common for all models is in `base`. */
export function cloudProvider(config: ProviderConfig, cloud: CloudFacts, base: Provider): Provider {
  const ways = cloud.offers.map((offer) => waysOf(offer, { config, cloud, base }));
  const usual = ways.at(-1)?.[0] ?? base;
  return {
    ...usual,
    card: listing(usual.card, config, cloud),
    forModel: (model, wish) => {
      const at = cloud.offers.findIndex(({ models }) => models === undefined || models.test(model));
      return chosen(ways, at, wish) ?? usual;
    },
  };
}

/** The way for a model: with the configured protocol, else with the client's own, else with the one the model needs. */
function chosen(ways: readonly (readonly Provider[])[], at: number, wish: ProtocolWish): Provider | undefined {
  const fitting = ways[at] ?? [];
  const speaking = (some: readonly Provider[], name: DialectName | undefined) =>
    some.find(({ dialect }) => dialect.name === name);
  if (wish.protocol !== undefined) {
    const { dialect: name } = kindFacts(wish.protocol);
    return speaking(fitting, name) ?? speaking(ways.flat(), name);
  }
  if (wish.responses) return speaking(fitting, "openai-responses") ?? fitting[0];
  return fitting.find(({ dialect }) => dialect.name === wish.family) ?? fitting[0];
}

interface Making {
  readonly config: ProviderConfig;
  readonly cloud: CloudFacts;
  readonly base: Provider;
}

function waysOf(offer: CloudOffer, { config, cloud, base }: Making): Provider[] {
  const host = config.baseUrl === cloudOrigin(cloud, config) ? (offer.origin ?? config.baseUrl) : config.baseUrl;
  const baseUrl = filled(host + offer.path, config);
  return offer.protocols.map((name) => {
    const card = cardFor(config.preset, name);
    const dialect = DIALECTS.find((one) => one.name === name) as Dialect;
    const quirks = { ...card.quirks, ...config.quirks };
    const endUsers = endUserScope(config.endUsers, quirks);
    const shared = { ...base, baseUrl, minter: minterOf(name, base), quirks, endUsers };
    const { shape } = offer;
    if (shape === undefined) return { ...shared, card, dialect: withCloudFaults(dialect) };
    const transport = shape === "invoke-model" ? eventStreamTransport(base.transport) : base.transport;
    const client = shape === "invoke-model" ? undefined : base.client;
    return { ...shared, client, transport, card: bare(card), dialect: withCloudFaults(shapedDialect(dialect, shape)) };
  });
}

/** The card without the protocol's version, which the body names there. */
function bare(card: ProviderCard): ProviderCard {
  return {
    ...card,
    headers: (secret) => {
      const { "anthropic-version": _version, ...headers } = card.headers(secret);
      return headers;
    },
  };
}

/** Sealed values of the vendors for which these are portable are read in every cloud too. */
function minterOf(name: DialectName, base: Provider): string {
  return CARDS.find(({ dialect, portableSeals }) => dialect === name && portableSeals === true)?.name ?? base.minter;
}

/** The card with the addresses of the cloud's lists. */
function listing(card: ProviderCard, config: ProviderConfig, cloud: CloudFacts): ProviderCard {
  const { further } = card;
  return {
    ...card,
    ...(cloud.list === undefined ? {} : { modelsPath: listAddress(cloud.list, config, cloud) }),
    ...(further === undefined ? {} : { further: { ...further, path: listAddress(further.path, config, cloud) } }),
  };
}

/** With an address of the operator's own, everything is there. */
function listAddress(path: string, config: ProviderConfig, cloud: CloudFacts): string {
  const { baseUrl } = config;
  const isUsual = cloud.listHost !== undefined && baseUrl === cloudOrigin(cloud, config);
  return (isUsual ? baseUrl.replace(...cloud.listHost) : baseUrl) + filled(path, config);
}
