// What a vendor's file says. Data only: what is done with it is told where it is used (upstream/providers for requests and
// model lists, config/presets for the configuration, catalog/pack-metadata for prices, telemetry/genai for traces).

import type { ModelFamily } from "./model-family.ts";
import type { ListedKind, ModelKind } from "./model-kind.ts";
import type { Auth, DialectName, ProviderKind } from "./protocols.ts";
import type { Quirks } from "./quirks.ts";

/** One vendor: its API where it can be called, its models wherever they are served. */
export interface Vendor {
  /** In small letters. Names the preset of the configuration where there is an `api`. */
  readonly name: string;
  /** As it writes itself. */
  readonly title: string;
  readonly api?: VendorApi;
  /** Models that bear its names; the first family that a name belongs to has it. */
  readonly families?: readonly ModelFamily[];
}

/** An API, or a server that people run themselves. */
export interface VendorApi {
  /** How it speaks unless the configuration says otherwise. */
  readonly kind: ProviderKind;
  /** With its version segment, as the vendor's own SDK takes it; "" where only the operator can know it. */
  readonly baseUrl: string;
  /** The domains that it answers on; absent for servers that people run themselves. */
  readonly domains?: readonly string[];
  /** `gen_ai.provider.name` in traces, where the domain is one of these: of the OpenTelemetry conventions where they have one. */
  readonly traceName?: string;
  readonly variable?: Variable;
  /** How its keys begin, where they have a beginning of their own: such a text is shown and logged nowhere. */
  readonly keyBegins?: string;
  /** What is special about it in each protocol that it speaks. */
  readonly dialects: Readonly<Partial<Record<DialectName, Quirks>>>;
  /** Absent: as the protocol has it. */
  readonly auth?: Auth;
  /** Absent: it lists nothing that can be asked for. */
  readonly models?: ModelList;
  /** Where the public packages of prices and limits know it. */
  readonly figures?: PublicFigures;
  /** What it seals for one account it reads for every other. */
  readonly portableSeals?: boolean;
  /** It signs all thinking, and refuses what has no signature. */
  readonly signsThinking?: boolean;
  readonly decisions?: DecisionFacts;
  /** It is part of the program: which code answers (upstream/providers), and for which models. */
  readonly embedded?: { readonly answeredBy: EmbeddedName; readonly models: readonly DiscoveredModel[] };
  /** What people must know to set it up; a sentence of the table in docs/reference/providers.md. */
  readonly note?: string;
}

/** The providers that are part of the program. */
export type EmbeddedName = "demo";

/** An environment variable that people have set for the vendor's own tools. */
export interface Variable {
  readonly name: string;
  readonly holds: "key" | "address";
  /** It makes a provider when nothing is configured. */
  readonly alone: boolean;
}

/** Names in the packages that catalog/pack-metadata.ts reads. */
export interface PublicFigures {
  /** The provider's id in the package of prices. */
  readonly prices: string;
  /** Whose models the package of limits is asked for; `everyone`: it serves all of them, by names with their makers'. */
  readonly limits?: string | { readonly everyone: true };
}

/** How it answers typed decisions. */
export interface DecisionFacts {
  /** Members of a chat request that keep a model from thinking before its letter. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** It scores no tokens by id, but shows this many of the most probable ones. */
  readonly shownTokens?: number;
  /** Its decision endpoint takes nothing but text, and always wants to be told what is asked. */
  readonly textOnly?: boolean;
  /** Public prices of decision models: US dollars per million input tokens. */
  readonly prices?: readonly { readonly model: RegExp; readonly input: number }[];
}

/**
 * Where an entry of a model list says something: a member's path (`meta.n_ctx`), the first of several that says it, or a
 * member that is the word or a list with it.
 */
export type Place = string | readonly string[] | { readonly member: string; readonly word: string };

/** What a list says of its models beside their ids. */
export type ListedFact =
  | "name"
  | "description"
  | "contextLength"
  | "maxOutputTokens"
  | "supportsTools"
  | "supportsVision"
  | "supportsReasoning";

/** How its model list reads: `{data:[…]}`, `{models:[…]}` or a bare list of entries. */
export interface ModelList {
  /** Relative to the base URL. */
  readonly path: string;
  /** Absent: `id`. */
  readonly id?: Place;
  /** Stands before ids in the list and not in requests. */
  readonly idPrefix?: string;
  readonly facts?: Readonly<Partial<Record<ListedFact, Place>>>;
  /** What makes an entry a model of a kind. Where the list does not say it, the id does. */
  readonly kinds?: Readonly<Partial<Record<ModelKind, Place>>>;
  /** False for models that cannot be asked. */
  readonly active?: Place;
}

/** A model as an upstream lists it. */
export interface DiscoveredModel {
  id: string;
  name?: string;
  description?: string;
  contextLength?: number;
  maxOutputTokens?: number;
  supportsTools?: boolean;
  supportsVision?: boolean;
  supportsReasoning?: boolean;
  /** When the model came out. */
  createdSeconds?: number;
  /** Absent: it chats. */
  kind?: ListedKind;
}
