// From the configuration to providers that can be called.

import { sha256Hex } from "../base/ids.ts";
import type { ProviderConfig, ProviderKind } from "../config/schema.ts";
import type { Quirks } from "../vendors/quirks.ts";
import type { Dialect, DialectName } from "./dialect.ts";
import { DIALECTS } from "./dialects/index.ts";
import { openaiResponses } from "./dialects/responses/dialect.ts";
import { KeyRing, type Provider, type ProviderCard, type Transport } from "./provider.ts";
import { demo, demoTransport } from "./providers/demo.ts";
import { CARDS } from "./providers/index.ts";

const DIALECT_OF: Readonly<Partial<Record<ProviderKind, DialectName>>> = {
  openai: "openai-chat",
  "openai-responses": "openai-responses",
  anthropic: "anthropic-messages",
  gemini: "gemini",
  demo: "openai-chat",
};

/** Sends over the network. */
export const fetchTransport: Transport = (url, init) => fetch(url, init);

/** The chat provider of a configuration entry; undefined for kinds that only answer decisions. */
export function configureProvider(config: ProviderConfig): Provider | undefined {
  const name = DIALECT_OF[config.kind];
  const dialect: Dialect | undefined = name === undefined ? undefined : DIALECTS.find((one) => one.name === name);
  if (name === undefined || dialect === undefined) return undefined;
  const embedded = config.kind === "demo";
  const card = embedded ? demo : cardOf(config.preset, name);
  const quirks: Quirks = { ...card.quirks, ...config.quirks };
  const provider: Provider = {
    name: config.name,
    dialect,
    card,
    minter: minterOf(config, card),
    baseUrl: config.baseUrl,
    quirks,
    extraHeaders: config.headers,
    keys: new KeyRing(config.apiKeys),
    timeoutsMs: config.timeoutMs,
    retry: { attempts: config.retry.attempts, baseMs: config.retry.baseMs, maxMs: config.retry.maxMs },
    transport: embedded ? demoTransport : fetchTransport,
    embedded,
  };
  if (name !== "openai-chat" || quirks.responses !== true) return provider;
  const other = cardOf(config.preset, "openai-responses");
  const byResponses = { ...provider, dialect: openaiResponses, card: other };
  return { ...provider, byResponses: { ...byResponses, quirks: { ...other.quirks, ...config.quirks } } };
}

/**
 * Sealed values are read by who minted them: another entry may have another account. Short and without secrets, because it
 * stands in what clients hand back.
 */
function minterOf({ name, baseUrl }: ProviderConfig, card: ProviderCard): string {
  if (card.portableSeals === true && baseUrl === card.baseUrl) return card.name;
  return sha256Hex(`${card.dialect} ${baseUrl} ${name}`).slice(0, 12);
}

/** The preset's card where it speaks that dialect, else the generic one of the dialect. */
function cardOf(preset: string | undefined, dialect: DialectName): ProviderCard {
  const named = CARDS.find((card) => card.name === preset && card.dialect === dialect);
  return named ?? GENERIC[dialect];
}

const bearer = (secret: string): Record<string, string> => (secret === "" ? {} : { authorization: `Bearer ${secret}` });

const GENERIC: Readonly<Record<DialectName, ProviderCard>> = {
  "openai-chat": {
    name: "openai-compatible",
    dialect: "openai-chat",
    baseUrl: "",
    headers: bearer,
    quirks: {},
    modelsPath: "/models",
  },
  "openai-responses": {
    name: "openai-responses",
    dialect: "openai-responses",
    baseUrl: "",
    headers: bearer,
    quirks: {},
    modelsPath: "/models",
  },
  "anthropic-messages": {
    name: "anthropic-compatible",
    dialect: "anthropic-messages",
    baseUrl: "",
    headers: (secret) => ({ "anthropic-version": "2023-06-01", ...(secret === "" ? {} : { "x-api-key": secret }) }),
    quirks: {},
    modelsPath: "/models",
  },
  gemini: {
    name: "gemini",
    dialect: "gemini",
    baseUrl: "",
    headers: (secret) => (secret === "" ? {} : { "x-goog-api-key": secret }),
    quirks: {},
    modelsPath: "/models",
  },
};
