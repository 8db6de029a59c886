// The web search of the Responses API (https://platform.openai.com/docs/guides/tools-web-search, read 2026-11).

import type { OwnSearch, SaidPage } from "../../own-search.ts";
import { asCount, asList, asRecord, asText } from "../loose.ts";
import { RESPONSES } from "./input.ts";

const TYPE = "web_search";
/** The pages that a search found. */
const SOURCES = "web_search_call.action.sources";
/** The most domains of a filter. */
const DOMAINS_MAX = 100;

/** The search of the Responses API. */
export const responsesSearch: OwnSearch = {
  tool({ asked, allowed, blocked, location, size }) {
    // It has no limit for one tool, and no list of domains to leave out.
    if (asked !== undefined || blocked.length > 0 || allowed.length > DOMAINS_MAX) return undefined;
    const value = {
      type: TYPE,
      ...(allowed.length > 0 ? { filters: { allowed_domains: [...allowed] } } : {}),
      ...(location === undefined ? {} : { user_location: { type: "approximate", ...location } }),
      ...(size === undefined ? {} : { search_context_size: size }),
    };
    return { type: "server", origin: RESPONSES, name: TYPE, value, includes: [SOURCES] };
  },
  said(item) {
    if (item["type"] !== "web_search_call") return undefined;
    const action = asRecord(item["action"]);
    // What the model opened of the pages that it found.
    if ((action["type"] ?? "search") !== "search") return [];
    const callId = String(item["id"]);
    const query = asText(action["query"]) ?? asList(action["queries"]).map(String).join("; ");
    const result = item["status"] === "failed" ? ("unavailable" as const) : asList(action["sources"]).flatMap(pageOf);
    return [
      { type: "call", callId, query },
      { type: "result", callId, result },
    ];
  },
  noted(annotation, text) {
    if (annotation["type"] !== "url_citation" || annotation["url_citation"] !== undefined) return undefined;
    const end = Math.min(asCount(annotation["end_index"]) ?? text.length, text.length);
    const start = Math.min(asCount(annotation["start_index"]) ?? 0, end);
    return { citations: pageOf(annotation).map((page) => ({ ...page, quote: "", start, end })), searches: [] };
  },
};

function pageOf(value: unknown): SaidPage[] {
  const { url, title } = asRecord(value);
  return typeof url === "string" ? [{ url, title: asText(title) ?? url }] : [];
}
