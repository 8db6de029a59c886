// What a search engine is: facts, and two pure functions. One makes the request, the other reads the answer; neither
// asks the network, the clock or the configuration, so that every engine can be tested on stored answers.

/** What a search may be about. The words are the API's. */
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

/** How far back hits may go. */
export type TimeRange = "day" | "week" | "month" | "year";
export type SafeSearch = "off" | "moderate" | "strict";

/** One search, as every engine is asked it. */
export interface SearchQuery {
  readonly text: string;
  readonly category: Category;
  /** BCP-47; absent: any language. */
  readonly language?: string | undefined;
  /** Hits wanted; an engine asks for no more than its own most. */
  readonly limit: number;
  /** 1 is the first. Ask an engine for no page above its `pagesMax`. */
  readonly page: number;
  readonly safe: SafeSearch;
  readonly timeRange?: TimeRange | undefined;
  /** For time ranges that are sent as dates, and answers that say "2 days ago". */
  readonly nowMs: number;
}

/** What the operator says about an engine, and how the gateway names itself. */
export interface EngineSettings {
  /** Replaces every origin of the engine; a path in it is kept as a prefix. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  /** Replaces entries of the engine's own `selectors`. */
  readonly selectors?: Readonly<Record<string, string>> | undefined;
  /** Sent where the engine wants to know who asks: product and a way to reach the operator. */
  readonly userAgent: string;
}

/** All that both functions of an engine see. */
export interface EngineContext {
  readonly query: SearchQuery;
  readonly settings: EngineSettings;
  /** What an earlier answer of this engine under these settings asked to remember and has not outlived: a token. */
  readonly remembered?: string | undefined;
}

/** One request. Redirects are followed; the answer's `url` tells where they led. */
export interface EngineRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Tells `parse` which of several requests was answered; absent in exchanges of one. */
  readonly step?: string | undefined;
}

/** The answer to one request, its body as text. */
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
  /** A small picture of the hit. */
  readonly thumbnail?: string | undefined;
  /** The file itself, where the hit is a picture or another file. */
  readonly file?: string | undefined;
  /** Who found it, when the engine asks others. */
  readonly engines?: readonly string[] | undefined;
}

/** Why an engine gave no hits. */
export type EngineFailureKind =
  /** It wants a person to answer. */
  | "captcha"
  | "rate_limited"
  /** It refuses this client or address. */
  | "blocked"
  /** The key is missing, wrong or used up. */
  | "bad_key"
  /** It would not take this request. */
  | "refused"
  | "server_error"
  /** The answer is not what this engine's selectors describe, or only a part of it arrived. */
  | "changed_markup";

/** A failure. The message is ours: plain words, and nothing of the answer's body. */
export interface EngineFailure {
  readonly kind: EngineFailureKind;
  readonly message: string;
  /** How long the engine asks to be left alone. */
  readonly retryAfterMs?: number | undefined;
}

/** What an answer says: hits (none is an answer too), one more request to send, or a failure. */
export type Parsed =
  | {
      readonly kind: "hits";
      readonly hits: readonly Hit[];
      /** Other queries worth asking. */
      readonly suggestions?: readonly string[] | undefined;
      /** What was probably meant. */
      readonly corrections?: readonly string[] | undefined;
      /** How long the engine asks to be left alone, though it answered. */
      readonly backOffMs?: number | undefined;
    }
  | { readonly kind: "next"; readonly request: EngineRequest; readonly remember?: Remember | undefined }
  | { readonly kind: "failure"; readonly failure: EngineFailure };

/** A value for `EngineContext.remembered`. To be forgotten after a failure, too: it may be the cause. */
export interface Remember {
  readonly value: string;
  readonly forMs: number;
}

/** At most this many requests in that time. */
export interface RequestRate {
  readonly requests: number;
  readonly perMs: number;
}

/** A search engine. `name` is what the configuration and the answers call it. */
export interface SearchEngine {
  readonly name: string;
  readonly categories: readonly Category[];
  /** How much its ranking counts beside others'. */
  readonly weight: number;
  readonly about: {
    /** Its site, for people. */
    readonly website: string;
    /** True where the operator offers this interface to programs. */
    readonly official: boolean;
  };
  /** Asked without the operator saying so. */
  readonly enabledByDefault: boolean;
  /** Present when it needs a key; says what the key looks like. A key turns the engine on and puts it first. */
  readonly key?: { readonly looksLike: string } | undefined;
  /** Present when it answers without a key, and more often or sooner with one; says what the key looks like. */
  readonly optionalKey?: { readonly looksLike: string; readonly requestRate?: RequestRate } | undefined;
  /** True when there is no origin to ask before the operator names one. */
  readonly needsBaseUrl?: true | undefined;
  /** Engines of one network are suspended together. */
  readonly network: string;
  /** Counted over all searches; absent: no limit is known. With an optional key that key's own holds, where it has one. */
  readonly requestRate?: RequestRate | undefined;
  readonly timeoutMs: number;
  /** Above 1 when it can be asked for further pages. */
  readonly pagesMax: number;
  /** Absent: it cannot be told one, and hits may be of any language. */
  readonly languages?: "any" | readonly string[] | undefined;
  /** Empty: it cannot be told one. */
  readonly timeRanges: readonly TimeRange[];
  /** True when it can be told to leave unsafe hits out, or always does. */
  readonly safeSearch: boolean;
  /** True when its answers may hold suggestions or corrections. */
  readonly suggestions: boolean;
  /** Where in an answer things stand, by name: CSS selectors for markup, dotted paths for JSON. The operator may replace them. */
  readonly selectors: Readonly<Record<string, string>>;
  /** The first request of an exchange. */
  request(context: EngineContext): EngineRequest;
  /** Reads an answer. Never throws, whatever the body holds. */
  parse(response: EngineResponse, context: EngineContext): Parsed;
}

/** All time ranges, for engines that take each. */
export const TIME_RANGES: readonly TimeRange[] = ["day", "week", "month", "year"];
