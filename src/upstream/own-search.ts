// The web search that a provider runs itself, for clients of another protocol: how its protocol asks for it, and what its answers say
// of it.

import type { ServerTool } from "../chat/request.ts";
import type { ServerToolError } from "../chat/server-tools.ts";

/** What a client wants of a search. */
export interface SearchWish {
  /** How often the client lets the model search; undefined: it does not say. */
  readonly asked: number | undefined;
  /** How often it may search at most. */
  readonly maxUses: number;
  readonly allowed: readonly string[];
  readonly blocked: readonly string[];
  /** Where the user is: `city`, `region`, `country` and `timezone`. */
  readonly location: Readonly<Record<string, string>> | undefined;
  /** How much of the pages the model gets: `low`, `medium` or `high`. */
  readonly size: string | undefined;
  /** Whether the model gets functions beside it. */
  readonly besideFunctions: boolean;
}

/** A page that a search found. */
export interface SaidPage {
  readonly url: string;
  readonly title: string;
}

/** A search, or what came of it. */
export type SaidSearch =
  | { readonly type: "call"; readonly callId: string; readonly query: string }
  | { readonly type: "result"; readonly callId: string; readonly result: readonly SaidPage[] | ServerToolError };

/** A source of a part of a text, by its characters. */
export interface SaidCitation extends SaidPage {
  readonly start: number;
  readonly end: number;
  /** What the page says; "" if the provider does not quote it. */
  readonly quote: string;
}

/** The words of a protocol. */
export interface OwnSearch {
  /** The tool; undefined if the protocol cannot say all that the client wants. */
  tool(wish: SearchWish): ServerTool | undefined;
  /** What a block that only the protocol has says of searches; undefined for any other block. */
  said(block: Readonly<Record<string, unknown>>): readonly SaidSearch[] | undefined;
  /** What an annotation of a text says; undefined for any other annotation. */
  noted(annotation: Readonly<Record<string, unknown>>, text: string): Noted | undefined;
}

/** What an annotation says. */
export interface Noted {
  readonly citations: readonly SaidCitation[];
  readonly searches: readonly SaidSearch[];
}
