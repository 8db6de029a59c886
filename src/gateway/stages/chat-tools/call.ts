// Runs one call of a tool. A failure is a result.

import { ApiError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json-object.ts";
import { repairJson } from "../../../base/json-repair.ts";
import type { ServerToolError } from "../../../chat/server-tools.ts";
import type { ChatWebTools, ToolCaller, ToolWish, WebHit } from "./deps.ts";
import { mayUse } from "./wishes.ts";

const QUERY_CHARS_MAX = 2000;
/** Sites to which a query is narrowed; engines refuse longer ones. */
const SITES_MAX = 5;

/** The arguments of a call; empty if they cannot be read. */
export function argumentsOf(text: string): Readonly<Record<string, unknown>> {
  const repaired = text.trim() === "" ? "{}" : repairJson(text);
  const value: unknown = repaired === undefined ? undefined : JSON.parse(repaired);
  return isRecord(value) ? value : {};
}

/** What a call gave. */
export type Ran = { readonly hits: readonly WebHit[] } | { readonly code: ServerToolError };

/** Searches, or reads a page. Throws the signal's reason alone. */
export async function runTool(
  wish: ToolWish,
  input: Readonly<Record<string, unknown>>,
  { web, by, isKnown }: { web: ChatWebTools; by: ToolCaller; isKnown(url: string): boolean },
): Promise<Ran> {
  try {
    return wish.kind === "web_search"
      ? await search(wish, input["query"], { web, by })
      : await read(wish, input["url"], { web, by, isKnown });
  } catch (error) {
    by.signal.throwIfAborted();
    return { code: codeOf(error, wish.kind === "web_search") };
  }
}

async function search(
  wish: ToolWish,
  query: unknown,
  { web, by }: { web: ChatWebTools; by: ToolCaller },
): Promise<Ran> {
  if (typeof query !== "string" || query.trim() === "") return { code: "invalid_tool_input" };
  if (query.length > QUERY_CHARS_MAX) return { code: "query_too_long" };
  const hits = await web.search(narrowed(query, wish.allowed), by);
  return {
    hits: hits
      .filter(({ url }) => mayUse(url, wish))
      .map((hit) => ({ ...hit, text: hit.text.slice(0, wish.pageChars) })),
  };
}

/** A query that finds pages of the allowed sites. What is found elsewhere is left out afterwards. */
function narrowed(query: string, allowed: readonly string[]): string {
  if (allowed.length === 0 || allowed.length > SITES_MAX) return query;
  const text = `${query} ${allowed.map((site) => `site:${site}`).join(" OR ")}`;
  return text.length > QUERY_CHARS_MAX ? query : text;
}

async function read(
  wish: ToolWish,
  url: unknown,
  { web, by, isKnown }: { web: ChatWebTools; by: ToolCaller; isKnown(url: string): boolean },
): Promise<Ran> {
  if (typeof url !== "string" || !URL.canParse(url)) return { code: "invalid_tool_input" };
  if (!isKnown(url) || !mayUse(url, wish)) return { code: "url_not_allowed" };
  const { reached = url, ...hit } = await web.fetch(url, by);
  // A page outside the limits is not read by way of one inside.
  if (!mayUse(reached, wish)) return { code: "url_not_allowed" };
  return { hits: [{ ...hit, text: hit.text.slice(0, wish.pageChars) }] };
}

function codeOf(error: unknown, isSearch: boolean): ServerToolError {
  const { apiCode } = error instanceof ApiError ? error : { apiCode: "" };
  if (apiCode === "rate_limit_exceeded") return "too_many_requests";
  if (isSearch) return "unavailable";
  return apiCode === "url_not_allowed" ? "url_not_allowed" : "url_not_accessible";
}
