// Defines a search engine: facts, and two pure functions. One builds the request, the other parses the response; neither uses
// the network, the clock or the configuration, so that every engine can be tested with stored responses.

/** The categories of a search, with the API's names. */
export const CATEGORIES = [
  "general",
  "news",
  "science",
  "it",
  "social media",
  "videos",
  "music",
  "files",
  "images",
  "map",
] as const;
export type Category = (typeof CATEGORIES)[number];

/** How old hits may be. */
export type TimeRange = "day" | "week" | "month" | "year";
export type SafeSearch = "off" | "moderate" | "strict";

/** One search, as sent to every engine. */
export interface SearchQuery {
  readonly text: string;
  readonly category: Category;
  /** BCP-47; absent: any language. */
  readonly language?: string | undefined;
  /** Wanted number of hits; an engine requests no more than its own maximum. */
  readonly limit: number;
  /** Starts at 1. Never above the engine's `pagesMax`. */
  readonly page: number;
  readonly safe: SafeSearch;
  readonly timeRange?: TimeRange | undefined;
  /** The current time, for time ranges that are sent as dates, and responses with "2 days ago". */
  readonly nowMs: number;
}

/** The operator's settings for an engine, and how the gateway identifies itself. */
export interface EngineSettings {
  /** Replaces every origin of the engine; its path is used as a prefix. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  /** Replaces entries of the engine's own `selectors`. */
  readonly selectors?: Readonly<Record<string, string>> | undefined;
  /** Sent if the engine wants to know its client: product and a contact of the operator. */
  readonly userAgent: string;
}

/** The input of both functions of an engine. */
export interface EngineContext {
  readonly query: SearchQuery;
  readonly settings: EngineSettings;
  /** A token that an earlier response asked to keep, under the same settings and not expired. */
  readonly remembered?: string | undefined;
}

/** One request. Redirects are followed; the response's `url` is the final address. */
export interface EngineRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Tells `parse` which of several requests was answered; absent if there is only one. */
  readonly step?: string | undefined;
}

/** The response to one request, its body as text. */
export interface EngineResponse {
  readonly status: number;
  readonly headers: Headers;
  /** After redirects. */
  readonly url: string;
  readonly body: string;
  /** The request that was answered. */
  readonly request: EngineRequest;
}

/** One hit. Texts are plain: no markup, no entities, no line breaks. */
export interface Hit {
  readonly url: string;
  readonly title: string;
  /** May be empty. */
  readonly snippet: string;
  /** ISO 8601. */
  readonly publishedAt?: string | undefined;
  /** A thumbnail of the hit. */
  readonly thumbnail?: string | undefined;
  /** The file itself, if the hit is an image or another file. */
  readonly file?: string | undefined;
  /** The engines that found it, if the engine queries others. */
  readonly engines?: readonly string[] | undefined;
}

/** Why an engine gave no hits. */
export type EngineFailureKind =
  /** It shows a captcha. */
  | "captcha"
  | "rate_limited"
  /** It blocks this client or address. */
  | "blocked"
  /** The key is missing, wrong or used up. */
  | "bad_key"
  /** It rejected this request. */
  | "refused"
  | "server_error"
  /** The response does not match this engine's selectors, or is incomplete. */
  | "changed_markup";

/** A failure. The message is in our own words, without any text from the response. */
export interface EngineFailure {
  readonly kind: EngineFailureKind;
  readonly message: string;
  /** How long the engine asks not to be queried. */
  readonly retryAfterMs?: number | undefined;
}

/** A parsed response: hits (possibly none), one more request to send, or a failure. */
export type Parsed =
  | {
      readonly kind: "hits";
      readonly hits: readonly Hit[];
      /** Suggested queries. */
      readonly suggestions?: readonly string[] | undefined;
      /** A spelling correction. */
      readonly corrections?: readonly string[] | undefined;
      /** How long the engine asks not to be queried, although it answered. */
      readonly backOffMs?: number | undefined;
    }
  | { readonly kind: "next"; readonly request: EngineRequest; readonly remember?: Remember | undefined }
  | { readonly kind: "failure"; readonly failure: EngineFailure };

/** A value for `EngineContext.remembered`. Also dropped after a failure: it may be the cause. */
export interface Remember {
  readonly value: string;
  readonly forMs: number;
}

/** At most this many requests in this period. */
export interface RequestRate {
  readonly requests: number;
  readonly perMs: number;
}

/** A search engine. `name` is its name in the configuration and in responses. */
export interface SearchEngine {
  readonly name: string;
  readonly categories: readonly Category[];
  /** The weight of its ranking relative to others. */
  readonly weight: number;
  readonly about: {
    /** Its site, for people. */
    readonly website: string;
    /** Whether the operator of the site offers this interface to programs. */
    readonly official: boolean;
  };
  /** Enabled without a setting. */
  readonly enabledByDefault: boolean;
  /** Present if it needs a key; describes the key. Setting a key enables the engine and puts it first. */
  readonly key?: { readonly looksLike: string } | undefined;
  /** Present if it works without a key, but better with one; describes the key. */
  readonly optionalKey?: { readonly looksLike: string; readonly requestRate?: RequestRate } | undefined;
  /** Whether there is no default origin, so that the operator must name one. */
  readonly needsBaseUrl?: true | undefined;
  /** Engines of one network are suspended together. */
  readonly network: string;
  /** Applies to all searches together; absent: no known limit. A key may have its own limit. */
  readonly requestRate?: RequestRate | undefined;
  readonly timeoutMs: number;
  /** Above 1 if it supports further pages. */
  readonly pagesMax: number;
  /** Absent: the language cannot be chosen, and hits may be in any language. */
  readonly languages?: "any" | readonly string[] | undefined;
  /** Empty: time ranges are not supported. */
  readonly timeRanges: readonly TimeRange[];
  /** Whether it can exclude unsafe hits, or always does. */
  readonly safeSearch: boolean;
  /** Whether its responses may hold suggestions or corrections. */
  readonly suggestions: boolean;
  /** Where values are in a response, by name: CSS selectors for markup, dotted paths for JSON. The operator may replace them. */
  readonly selectors: Readonly<Record<string, string>>;
  /** The first request of an exchange. */
  request(context: EngineContext): EngineRequest;
  /** Parses a response. Never throws, whatever the body contains. */
  parse(response: EngineResponse, context: EngineContext): Parsed;
}

/** All time ranges, for engines that support all of them. */
export const TIME_RANGES: readonly TimeRange[] = ["day", "week", "month", "year"];
