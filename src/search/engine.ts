// Defines a search engine: facts and two pure functions. One builds a request, the other parses a response. Neither uses the
// network, the clock or the configuration, so every engine can be tested with stored responses.

/** The categories of a search, by their names in the API. */
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
  /** A BCP-47 tag; absent for any language. */
  readonly language?: string | undefined;
  /** The wanted number of hits. An engine requests no more than its own maximum. */
  readonly limit: number;
  /** The page, from 1, which is never above the engine's `pagesMax`. */
  readonly page: number;
  readonly safe: SafeSearch;
  readonly timeRange?: TimeRange | undefined;
  /** The current time, for time ranges that are sent as dates, and for responses such as "2 days ago". */
  readonly nowMs: number;
}

/** The operator's settings for an engine, and how the gateway identifies itself. */
export interface EngineSettings {
  /** Replaces every origin of the engine. A path in it is used as a prefix. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  /** Replaces entries of the engine's own `selectors`. */
  readonly selectors?: Readonly<Record<string, string>> | undefined;
  /** The client's name for engines that want to know it: the product and a contact of the operator. */
  readonly userAgent: string;
}

/** The input of both functions of an engine. */
export interface EngineContext {
  readonly query: SearchQuery;
  readonly settings: EngineSettings;
  /** A token that an earlier response asked to keep, under the same settings and not yet expired. */
  readonly remembered?: string | undefined;
}

/** One request. Redirects are followed, and the response's `url` is the final address. */
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
  /** The address after redirects. */
  readonly url: string;
  readonly body: string;
  /** The request that was answered. */
  readonly request: EngineRequest;
}

/** One hit. Its texts are plain, without markup, entities and line breaks. */
export interface Hit {
  readonly url: string;
  readonly title: string;
  /** The snippet, which may be empty. */
  readonly snippet: string;
  /** When it was published, in ISO 8601. */
  readonly publishedAt?: string | undefined;
  /** A thumbnail of the hit. */
  readonly thumbnail?: string | undefined;
  /** The file itself, if the hit is an image or another file. */
  readonly file?: string | undefined;
  /** The engines that found it, if this engine queries others. */
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
  /** It refused this request. */
  | "refused"
  /** It could not answer this query, which says nothing of others. */
  | "unanswered"
  | "server_error"
  /** The response does not match this engine's selectors, or is incomplete. */
  | "changed_markup";

/** A failure. The message is this program's own and contains no text from the response. */
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
      /** Suggestions for other queries. */
      readonly suggestions?: readonly string[] | undefined;
      /** Corrections of the spelling. */
      readonly corrections?: readonly string[] | undefined;
      /** How long the engine asks not to be queried, although it answered. */
      readonly backOffMs?: number | undefined;
    }
  | { readonly kind: "next"; readonly request: EngineRequest; readonly remember?: Remember | undefined }
  | { readonly kind: "failure"; readonly failure: EngineFailure };

/** A value for `EngineContext.remembered`. It is also dropped after a failure, which it may have caused. */
export interface Remember {
  readonly value: string;
  readonly forMs: number;
}

/** At most this many requests in this period of time. */
export interface RequestRate {
  readonly requests: number;
  readonly perMs: number;
}

/** A search engine. `name` is its name in the configuration and in responses. */
export interface SearchEngine {
  readonly name: string;
  readonly categories: readonly Category[];
  /** The weight of its ranking against those of other engines; 1 if absent. */
  readonly weight?: number;
  readonly about: {
    /** The address of its site for people. */
    readonly website: string;
    /** Whether the operator of the site offers this interface to programs. */
    readonly official: boolean;
  };
  /** Whether it is enabled without a setting. */
  readonly enabledByDefault: boolean;
  /** Present if it needs a key, of which this describes the form. Setting a key enables the engine and puts it first. */
  readonly key?: { readonly looksLike: string } | undefined;
  /** Present if it works without a key, but better with one, of which this describes the form. */
  readonly optionalKey?: { readonly looksLike: string; readonly requestRate?: RequestRate } | undefined;
  /** Whether there is no default origin, so that the operator must name one. */
  readonly needsBaseUrl?: true | undefined;
  /** The network to which it belongs. Engines of one network are suspended together. */
  readonly network: string;
  /** The rate limit of all searches together; absent if none is known. A key may have a limit of its own. */
  readonly requestRate?: RequestRate | undefined;
  readonly timeoutMs: number;
  /** How many pages can be requested; 1 if absent. */
  readonly pagesMax?: number;
  /** The languages that can be chosen. If absent, none can, and hits may be in any language. */
  readonly languages?: "any" | readonly string[] | undefined;
  /** The time ranges that it supports; none if absent. */
  readonly timeRanges?: readonly TimeRange[];
  /** Whether it can exclude unsafe hits, or always does; no if absent. */
  readonly safeSearch?: boolean;
  /** Whether its responses may contain suggestions or corrections; no if absent. */
  readonly suggestions?: boolean;
  /**
   * The places of values in a response, by name: CSS selectors for markup, dotted paths for JSON. The operator may replace them.
   */
  readonly selectors: Readonly<Record<string, string>>;
  /** Builds the first request of an exchange. */
  request(context: EngineContext): EngineRequest;
  /** Parses a response. Never throws, whatever the body contains. */
  parse(response: EngineResponse, context: EngineContext): Parsed;
}

/** All time ranges, for engines that support all of them. */
export const TIME_RANGES: readonly TimeRange[] = ["day", "week", "month", "year"];
