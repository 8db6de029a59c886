// Google's own search (https://ai.google.dev/gemini-api/docs/google-search, read 2026-11). What an answer rests on stands beside its
// text, which the reader notes at the text's end.

import type { OwnSearch, SaidCitation, SaidPage, SaidSearch } from "../../own-search.ts";
import { asCount, asList, asRecord, asText } from "../loose.ts";
import { GEMINI } from "./contents.ts";

const NAME = "googleSearch";

/** The search of Gemini's protocol. */
export const geminiSearch: OwnSearch = {
  tool({ asked, allowed, blocked, location, besideFunctions }) {
    // It has no settings, and most models do not combine it with functions.
    const isPlain = asked === undefined && allowed.length + blocked.length === 0 && location === undefined;
    return isPlain && !besideFunctions
      ? { type: "server", origin: GEMINI, name: NAME, value: { [NAME]: {} } }
      : undefined;
  },
  said: () => undefined,
  noted(annotation, text) {
    const { groundingChunks: chunks, groundingSupports: supports, webSearchQueries: queries } = annotation;
    if (chunks === undefined && queries === undefined) return undefined;
    const pages = asList(chunks).map(pageOf);
    const citations = asList(supports).flatMap((support) => citationsOf(asRecord(support), pages, text));
    const found = pages.flatMap((page) => page ?? []);
    const searches = asList(queries).flatMap((query, at): SaidSearch[] => [
      { type: "call", callId: `search_${at}`, query: String(query) },
      // It does not say which search found which page.
      { type: "result", callId: `search_${at}`, result: at === 0 ? found : [] },
    ]);
    return { citations, searches };
  },
};

function pageOf(chunk: unknown): SaidPage | undefined {
  const { uri, title } = asRecord(asRecord(chunk)["web"]);
  return typeof uri === "string" ? { url: uri, title: asText(title) ?? uri } : undefined;
}

function citationsOf(
  support: Readonly<Record<string, unknown>>,
  pages: readonly (SaidPage | undefined)[],
  text: string,
): SaidCitation[] {
  const { startIndex, endIndex } = asRecord(support["segment"]);
  const start = charsOf(text, asCount(startIndex) ?? 0);
  const end = charsOf(text, asCount(endIndex) ?? Buffer.byteLength(text));
  return asList(support["groundingChunkIndices"]).flatMap((index) => {
    const page = pages[asCount(index) ?? -1];
    return page === undefined || end <= start ? [] : [{ ...page, quote: "", start, end }];
  });
}

/** The characters of the first bytes of a text. */
function charsOf(text: string, bytes: number): number {
  return Buffer.from(text).subarray(0, bytes).toString().length;
}
