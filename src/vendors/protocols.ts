// The protocols that providers speak, and the kinds of endpoint that the configuration knows (`providers.NAME.kind`). Both
// lists are closed: a protocol has its code in upstream/dialects, a kind that chats has a protocol.

/** A protocol of chat models. */
export type DialectName = "openai-chat" | "openai-responses" | "anthropic-messages" | "gemini";

/** How a credential is sent. */
export interface CredentialScheme {
  /** Header name, lower case. */
  readonly header: string;
  /** The value is `Bearer KEY` rather than the key alone. */
  readonly bearer?: boolean;
  /** A credential with this prefix is a token, sent as `authorization: Bearer`. */
  readonly tokensBegin?: string;
}

/** What most vendors expect. */
const BEARER: CredentialScheme = { header: "authorization", bearer: true };

/** Defaults for every server that speaks a protocol; a vendor's file may differ. */
export interface ProtocolFacts {
  /** Name of the card for servers of no known vendor. */
  readonly generic: string;
  readonly auth: CredentialScheme;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `gen_ai.provider.name` of servers that belong to no known vendor. */
  readonly traceName: string;
  /** It has embeddings by the verb `batchEmbedContents`, in words of its own (ai.google.dev/api/embeddings). */
  readonly embedsInBatches?: boolean;
}

/** Every protocol. */
export const PROTOCOLS: Readonly<Record<DialectName, ProtocolFacts>> = {
  "openai-chat": { generic: "openai-compatible", auth: BEARER, traceName: "openai" },
  "openai-responses": { generic: "openai-responses", auth: BEARER, traceName: "openai" },
  "anthropic-messages": {
    generic: "anthropic-compatible",
    auth: { header: "x-api-key" },
    headers: { "anthropic-version": "2023-06-01" },
    traceName: "anthropic",
  },
  gemini: { generic: "gemini", auth: { header: "x-goog-api-key" }, traceName: "gcp.gemini", embedsInBatches: true },
};

interface KindFacts {
  /** The protocol in which it chats; absent: it only answers decisions. */
  readonly dialect?: DialectName;
  /** It is part of the program: no address, no network. */
  readonly embedded?: boolean;
  /** As in `ProtocolFacts`, where there is no protocol; absent: the kind's own name. */
  readonly traceName?: string;
}

/** Every kind, in the order in which the configuration's schema names them. */
export const PROVIDER_KINDS = {
  openai: { dialect: "openai-chat" },
  "openai-responses": { dialect: "openai-responses" },
  anthropic: { dialect: "anthropic-messages" },
  gemini: { dialect: "gemini" },
  demo: { dialect: "openai-chat", embedded: true },
  systemone: {},
  "openai-decisions": { traceName: "openai" },
} as const satisfies Readonly<Record<string, KindFacts>>;

/** How a provider's endpoint speaks. */
export type ProviderKind = keyof typeof PROVIDER_KINDS;

/** The kind of an endpoint of which nothing is said: most servers speak it. */
export const USUAL_KIND: ProviderKind = "openai";

/** What is known of a kind. */
export function kindFacts(kind: ProviderKind): KindFacts {
  return PROVIDER_KINDS[kind];
}

/** True for the provider that is part of the program. */
export function isEmbedded({ kind }: { readonly kind: string }): boolean {
  return Object.hasOwn(PROVIDER_KINDS, kind) && kindFacts(kind as ProviderKind).embedded === true;
}
