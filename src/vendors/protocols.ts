// The protocols of providers, and the kinds of endpoint in the configuration (`providers.NAME.kind`). Both lists are closed:
// a protocol has its code in upstream/dialects, and a kind for chats has a protocol.

import type { Quirks } from "./quirks.ts";

/** A protocol of chat models. */
export type DialectName = "openai-chat" | "openai-responses" | "anthropic-messages" | "gemini";

/** How a credential is sent. */
export interface CredentialScheme {
  /** Header name, lower case. */
  readonly header: string;
  /** The value is `Bearer KEY` rather than the bare key. */
  readonly bearer?: boolean;
  /** Another word before the key than `Bearer`. */
  readonly word?: string;
  /** A credential with this prefix is a token, sent as `authorization: Bearer`. */
  readonly tokensBegin?: string;
}

/** Credentials that are more than a key; each has its code in upstream/credentials. */
export const CREDENTIAL_KINDS = ["aws", "google", "entra"] as const;

/** What most vendors expect. */
const BEARER: CredentialScheme = { header: "authorization", bearer: true };

/** Defaults for every server of a protocol; a vendor's file may differ. */
export interface ProtocolFacts {
  /** Name of the card for servers of unknown vendors. */
  readonly generic: string;
  readonly auth: CredentialScheme;
  /** What servers of unknown vendors take. */
  readonly quirks?: Quirks;
  /** Routers that speak it publish limits, modalities and prices with their lists. */
  readonly routersPublish?: boolean;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `gen_ai.provider.name` for servers of unknown vendors. */
  readonly traceName: string;
  /** It has embeddings by the method `batchEmbedContents`, in its own format (ai.google.dev/api/embeddings). */
  readonly embedsInBatches?: boolean;
}

/** Every protocol. */
export const PROTOCOLS: Readonly<Record<DialectName, ProtocolFacts>> = {
  "openai-chat": {
    generic: "openai-compatible",
    auth: BEARER,
    // Open models lose their plan between tool calls without it.
    quirks: { loop_reasoning: true },
    routersPublish: true,
    traceName: "openai",
  },
  "openai-responses": { generic: "openai-responses", auth: BEARER, routersPublish: true, traceName: "openai" },
  "anthropic-messages": {
    generic: "anthropic-compatible",
    auth: { header: "x-api-key" },
    headers: { "anthropic-version": "2023-06-01" },
    traceName: "anthropic",
  },
  gemini: { generic: "gemini", auth: { header: "x-goog-api-key" }, traceName: "gcp.gemini", embedsInBatches: true },
};

interface KindFacts {
  /** Its chat protocol; absent: it only answers decisions. */
  readonly dialect?: DialectName;
  /** It is embedded: no address, no network. */
  readonly embedded?: boolean;
  /** As in `ProtocolFacts`, for kinds without a protocol; absent: the kind's own name. */
  readonly traceName?: string;
}

/** Every kind, in the order of the configuration's schema. */
export const PROVIDER_KINDS = {
  openai: { dialect: "openai-chat" },
  "openai-responses": { dialect: "openai-responses" },
  anthropic: { dialect: "anthropic-messages" },
  gemini: { dialect: "gemini" },
  demo: { dialect: "openai-chat", embedded: true },
  systemone: {},
  "openai-decisions": { traceName: "openai" },
} as const satisfies Readonly<Record<string, KindFacts>>;

/** The kind of a provider's endpoint. */
export type ProviderKind = keyof typeof PROVIDER_KINDS;

/** The default kind, which most servers support. */
export const USUAL_KIND: ProviderKind = "openai";

/** The facts of a kind. */
export function kindFacts(kind: ProviderKind): KindFacts {
  return PROVIDER_KINDS[kind];
}

/** Whether it is the embedded provider. */
export function isEmbedded({ kind }: { readonly kind: string }): boolean {
  return Object.hasOwn(PROVIDER_KINDS, kind) && kindFacts(kind as ProviderKind).embedded === true;
}
