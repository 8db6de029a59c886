// Checks a model's answer against its part of the page. Values without a supporting quote are dropped, and values that the page
// or the quote does not contain literally are reported.

import { isRecord } from "../../base/json-object.ts";
import { siftOrders } from "./injected.ts";
import { type HoldsLiteral, leavesOf, literalsIn } from "./literal.ts";
import type { PageAnswer } from "./merge.ts";
import type { PagePart } from "./prompt.ts";
import { dropUnsupported, put, type QuoteSource, quotesIn } from "./quotes.ts";
import { type Reply, sourcesOf } from "./reply.ts";

/** A model's answer about a part. */
export interface PartAnswer {
  readonly part: PagePart;
  readonly reply: Reply;
  readonly warnings: readonly string[];
}

/** The checked result of a page, or of a part of it. */
export interface AnsweredPage extends PageAnswer {
  readonly warnings: readonly string[];
}

/** The share of a text's words that must occur in the page if the text as a whole does not. */
const WORDS_SHARE = 0.5;
const SHOWN_CHARS_MAX = 120;

/** Checks an answer. */
export function checkedPart({ part, reply, warnings }: PartAnswer): AnsweredPage {
  const { url } = part;
  const { text, orders } = siftOrders(`${part.evidence}\n${part.text}`);
  const told = [...warnings];
  const [order] = orders;
  if (order !== undefined)
    told.push(`${url}: the page contains instructions to language models (${shown(order)}), which were ignored.`);
  const stands = quotesIn(text);
  const entries = (list: readonly unknown[], quotes: readonly (string | null)[], name: string) => {
    const kept = list.filter((_, at) => quotes[at] != null && stands(quotes[at]));
    const lost = list.length - kept.length;
    if (lost > 0)
      told.push(
        `${name}: ${lost} of ${list.length} entries from ${url} were left out, because no quote from the page supports them.`,
      );
    return kept;
  };
  const isInPage = literalsIn([text], WORDS_SHARE);
  const tell = (name: string, values: readonly unknown[], where: string) => {
    for (const value of values)
      told.push(`${name}: ${shown(JSON.stringify(value))} does not occur ${where} ${url}. It may be derived.`);
  };
  if (Array.isArray(reply.value)) {
    const value = entries(reply.value, reply.entryQuotes, "The list");
    tell("The list", strangersIn(value, isInPage), "on");
    return { url, value, sources: {}, warnings: told };
  }
  if (!isRecord(reply.value)) return { url, value: reply.value, sources: {}, warnings: told };
  const value: Record<string, unknown> = {};
  for (const [field, one] of Object.entries(reply.value)) {
    const quotes = Object.hasOwn(reply.quotes, field) ? (reply.quotes[field] ?? []) : [];
    const isByEntry = Array.isArray(one) && one.length > 1 && quotes.length === one.length;
    put(value, field, isByEntry ? entries(one, quotes, field) : one);
  }
  const supported = dropUnsupported(value, sourcesOf(url, reply.quotes), [{ url, text }]);
  for (const [field, sources] of Object.entries(supported.sources)) {
    const found = isRecord(supported.value) ? supported.value[field] : undefined;
    if (typeof found === "object") tell(field, strangersIn(found, isInPage), "on");
    else tell(field, strangersIn(found, literalsIn(sources.map(({ quote }) => quote))), "in its quote from");
  }
  const sources = Object.entries(supported.sources).map(([field, list]) => [field, list.map(cutSource)] as const);
  return { url, value: supported.value, sources: Object.fromEntries(sources), warnings: told };
}

/** How much of a quote is shown. */
const QUOTE_SHOWN_MAX = 2000;

/** A source whose quote was checked as a whole. */
function cutSource(source: QuoteSource): QuoteSource {
  return source.quote.length <= QUOTE_SHOWN_MAX ? source : { ...source, quote: source.quote.slice(0, QUOTE_SHOWN_MAX) };
}

/** Maximum number of values reported for one field; more would add nothing. */
const STRANGERS_MAX = 3;

/** The numbers and texts of a value that do not occur literally. */
function strangersIn(value: unknown, isWritten: HoldsLiteral): unknown[] {
  return leavesOf(value)
    .filter((leaf) => !isWritten(leaf))
    .slice(0, STRANGERS_MAX);
}

function shown(text: string): string {
  return text.length <= SHOWN_CHARS_MAX ? text : `${text.slice(0, SHOWN_CHARS_MAX)}…`;
}
