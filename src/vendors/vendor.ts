// What a vendor's file contains. Data only; it is used by upstream/providers (requests, model lists), config/presets
// (configuration), catalog/pack-metadata (prices) and telemetry/genai (traces).

import type { CloudFacts } from "./cloud.ts";
import type { ModelFamily } from "./model-family.ts";
import type { ListedKind, ModelKind } from "./model-kind.ts";
import type { CredentialScheme, DialectName, ProviderKind } from "./protocols.ts";
import type { Quirks } from "./quirks.ts";

/** One vendor: its API where it can be called, its models wherever they are served. */
export interface Vendor {
  /** Lower case. With an `api` it is also the name of the preset in the configuration. */
  readonly name: string;
  /** The name as the vendor spells it. */
  readonly title: string;
  /** Its prefixes in a LiteLLM configuration, where they differ from its name (docs.litellm.ai/docs/providers). */
  readonly importNames?: readonly string[];
  readonly api?: VendorApi;
  /** Its families of models, wherever they are served. The first family whose pattern fits a name applies. */
  readonly families?: readonly ModelFamily[];
}

/** An API, or a server that people run themselves. */
export interface VendorApi {
  /** The protocol used unless the configuration says otherwise. */
  readonly kind: ProviderKind;
  /**
   * The base URL including the version segment, as the vendor's own SDK expects it; "" if only the operator can know
   * it.
   */
  readonly baseUrl: string;
  /** If only the operator knows the host: the path below it. */
  readonly pathBelowHost?: string;
  /** The domains of the API; absent for servers that people run themselves. */
  readonly domains?: readonly string[];
  /**
   * Required with `domains`: `gen_ai.provider.name` in traces of calls to them. The OpenTelemetry name if there is one, else the
   * vendor's own.
   */
  readonly traceName?: string;
  readonly variable?: Variable;
  /** Prefix of its API keys, if they have one: text that starts with it is never shown or logged. */
  readonly keyBegins?: string;
  /** Each protocol that it speaks, with its quirks there. */
  readonly dialects: Readonly<Partial<Record<DialectName, Quirks>>>;
  /** Absent: as usual for the protocol. */
  readonly auth?: CredentialScheme;
  /** Absent: it has no usable model list. */
  readonly models?: ModelList;
  /** Its names in the public packages of prices and limits. */
  readonly figures?: PublicFigures;
  /** Signed or encrypted reasoning of one account is accepted from every other account. */
  readonly portableSeals?: boolean;
  /** It signs all thinking, and refuses thinking without a signature. */
  readonly signsThinking?: boolean;
  readonly decisions?: DecisionFacts;
  /** Set for an embedded provider: the code that answers (upstream/providers), and its models. */
  readonly embedded?: {
    readonly answeredBy: EmbeddedName;
    readonly models: readonly DiscoveredModel[];
    readonly decisionModels: readonly EmbeddedDecisionModel[];
  };
  /** Set for a cloud: how its models are reached. */
  readonly cloud?: CloudFacts;
  /** What people must know to set it up, as a sentence for docs/reference/providers.md. */
  readonly note?: string;
}

/** A decision model inside the program. */
export interface EmbeddedDecisionModel {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** The providers inside the program. */
export type EmbeddedName = "demo";

/** An environment variable that people have set for the vendor's own tools. */
export interface Variable {
  readonly name: string;
  readonly holds: "key" | "address";
  /** This variable alone creates a provider if nothing is configured. */
  readonly alone: boolean;
}

/** Names in the packages that catalog/pack-metadata.ts reads. */
export interface PublicFigures {
  /** The provider's id in the package of prices. */
  readonly prices: string;
  /** The source of a regular expression for its addresses, where the package's own does not fit. They may be those of two vendors. */
  readonly addresses?: string;
  /** Clouds: from names that the package does not know to the names that it knows; each rule applies to what the ones before gave. */
  readonly spellings?: readonly Renaming[];
  /** Clouds: models whose limits, and prices where the package has none, are those of their makers. The first that fits applies. */
  readonly makers?: readonly MakersModels[];
  /** The owner whose models are looked up in the package of limits; `everyone`: an aggregator that serves all owners' models. */
  readonly limits?: string | { readonly everyone: true };
  /** What it bills beside tokens, with a source and a date in a comment. */
  readonly billing?: ListedBilling & { readonly models?: readonly ModelBilling[] };
  /** Models that are newer than the packages, from the vendor's own pages. A package that knows the model takes precedence. */
  readonly newer?: readonly NewerModel[];
}

/** How a name becomes another one. */
export interface Renaming {
  /** The source of a regular expression for names in small letters. */
  readonly from: string;
  /** The new name, with the groups of the expression as `$1`. */
  readonly to: string;
}

/** Models of a maker in a cloud, with their names at the maker. */
export interface MakersModels extends Renaming {
  /** The maker's name in the list of vendors. */
  readonly vendor: string;
  /** The operator chooses the names, so only one that the maker has exactly says which model it is. */
  readonly exact?: boolean;
  /** The cloud charges what the maker does, but for a surcharge. */
  readonly priced?: {
    /** The factor on the maker's prices, for addresses and names that fit the expressions. */
    readonly surcharge?: { readonly addresses: string; readonly models: string; readonly factor: number };
    readonly source: string;
    readonly seen: string;
  };
}

/** What is billed beside tokens. */
export interface ListedBilling {
  /** By service tier or speed, as answers name it: the factor on the prices of tokens. */
  readonly services?: Readonly<Record<string, number>>;
  /** US dollars for a web search. */
  readonly perSearch?: number;
  /** US dollars for a request with web searches, however many there are. */
  readonly perSearchedRequest?: number;
  /** US dollars for a request. */
  readonly perRequest?: number;
}

/** What some of a vendor's models are billed by otherwise. */
export interface ModelBilling extends ListedBilling {
  /** The source of a regular expression for their ids, in small letters. */
  readonly id: string;
  readonly source: string;
  readonly seen: string;
}

/** Prices in US dollars per million tokens. */
export interface ListedPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/** The figures of one model, with their source and its date. */
export interface NewerModel {
  readonly id: string;
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  readonly prices?: ListedPrices & { readonly tiers?: readonly (ListedPrices & { readonly above: number })[] };
  readonly source: string;
  /** Year and month. */
  readonly seen: string;
}

/** How it answers typed decisions. */
export interface DecisionFacts {
  /** Members of a chat request that stop a model from reasoning before it answers with a letter. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Tokens cannot be scored by id; this many of the most probable ones are requested instead. */
  readonly shownTokens?: number;
  /** Its decision endpoint accepts text only, and requires instructions. */
  readonly textOnly?: boolean;
  /** Public prices of decision models: US dollars per million input tokens. */
  readonly prices?: readonly { readonly model: RegExp; readonly input: number }[];
}

/**
 * Where to find a value in an entry of a model list: the path of a member (`meta.n_ctx`), the first existing one of several
 * paths, or true if a member equals the word or is a list that contains it.
 */
export type MemberPath = string | readonly string[] | { readonly member: string; readonly word: string };

/** The facts that a model list can contain besides the id. */
export type ListedFact =
  | "name"
  | "description"
  | "contextLength"
  | "maxOutputTokens"
  | "supportsTools"
  | "supportsVision"
  | "supportsReasoning";

/** How to read its model list, which is `{data:[…]}`, `{models:[…]}` or an array. */
export interface ModelList {
  /** Relative to the base URL. */
  readonly path: string;
  /** The member with the entries, where it is neither `data` nor `models`. */
  readonly list?: string;
  /** Absent: `id`. */
  readonly id?: MemberPath;
  /** Prefix of ids in the list that requests do not use. */
  readonly idPrefix?: string;
  readonly facts?: Readonly<Partial<Record<ListedFact, MemberPath>>>;
  /** Where the list says the kind of a model. If it does not, the id decides. */
  readonly kinds?: Readonly<Partial<Record<ModelKind, MemberPath>>>;
  /** False for models that cannot be used. */
  readonly active?: MemberPath;
  /** Whether entries may have `pricing` in dollars per token, as OpenRouter's have. */
  readonly pricing?: boolean;
  /** Another list of the same server, which is read if entries of this one say nothing but their ids. */
  readonly details?: { readonly path: string; readonly list: Omit<ModelList, "path"> };
  /** A list of further models, which not every account may read. */
  readonly further?: { readonly path: string; readonly list: Omit<ModelList, "path"> };
}

/** A model in an upstream's list. */
export interface DiscoveredModel {
  id: string;
  name?: string;
  description?: string;
  contextLength?: number;
  maxOutputTokens?: number;
  supportsTools?: boolean;
  supportsVision?: boolean;
  supportsReasoning?: boolean;
  prices?: ListedPrices;
  /** The model's release date. */
  createdSeconds?: number;
  /** Absent: a chat model. */
  kind?: ListedKind;
}
