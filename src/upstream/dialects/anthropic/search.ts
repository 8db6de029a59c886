// Anthropic's own web search (https://docs.claude.com/en/docs/agents-and-tools/tool-use/web-search-tool, read 2026-11).

import type { ServerToolError } from "../../../chat/server-tools.ts";
import type { OwnSearch, SaidPage } from "../../own-search.ts";
import { asList, asRecord, asText } from "../loose.ts";
import { ANTHROPIC } from "./messages.ts";

const NAME = "web_search";
const TYPE = "web_search_20250305";

/** The search of the messages protocol. */
export const anthropicSearch: OwnSearch = {
  tool({ maxUses, allowed, blocked, location }) {
    // The protocol takes one of both.
    if (allowed.length > 0 && blocked.length > 0) return undefined;
    const value = {
      type: TYPE,
      name: NAME,
      max_uses: maxUses,
      ...(allowed.length > 0 ? { allowed_domains: [...allowed] } : {}),
      ...(blocked.length > 0 ? { blocked_domains: [...blocked] } : {}),
      ...(location === undefined ? {} : { user_location: { type: "approximate", ...location } }),
    };
    return { type: "server", origin: ANTHROPIC, name: TYPE, value };
  },
  said(block) {
    if (block["type"] === "server_tool_use" && block["name"] === NAME) {
      const query = asText(asRecord(block["input"])["query"]) ?? "";
      return [{ type: "call", callId: String(block["id"]), query }];
    }
    if (block["type"] !== "web_search_tool_result") return undefined;
    const callId = String(block["tool_use_id"]);
    const code = asText(asRecord(block["content"])["error_code"]);
    if (code !== undefined) return [{ type: "result", callId, result: code as ServerToolError }];
    return [{ type: "result", callId, result: asList(block["content"]).flatMap(pageOf) }];
  },
  noted(annotation, text) {
    if (annotation["type"] !== "web_search_result_location") return undefined;
    const quote = asText(annotation["cited_text"]) ?? "";
    // The text block is the claim.
    const citations = pageOf(annotation).map((page) => ({ ...page, quote, start: 0, end: text.length }));
    return { citations, searches: [] };
  },
};

function pageOf(value: unknown): SaidPage[] {
  const { url, title } = asRecord(value);
  return typeof url === "string" ? [{ url, title: asText(title) ?? url }] : [];
}
