// Which of the gateway's tools a request asks for, in each format's own words.

import { entryOf, isRecord } from "../../../base/json-object.ts";
import type { ServerTool, Tool } from "../../../chat/request.ts";
import type { WebToolKind } from "../../../chat/server-tools.ts";
import type { WireFormat } from "../../../wire/format.ts";
import type { ChatTurn } from "../../centre/stage.ts";
import type { ToolWish } from "./deps.ts";

/** Characters of each page, by how much context the client wants of the search. */
const PAGE_CHARS: Readonly<Record<string, number>> = { low: 1500, medium: 4000, high: 8000 };
const PAGE_CHARS_USUAL = 4000;
/** Characters of a page that the model asked to read. */
const READ_CHARS = 24_000;
const DOMAINS_MAX = 100;

/** The kind of the gateway's tool that a name of the format stands for; undefined for any other name. */
export function kindNamed(name: string, { ownTools }: Pick<WireFormat, "ownTools">): WebToolKind | undefined {
  return ownTools?.find(([names]) => names.test(name))?.[1];
}

/** What kind of the gateway's tools it is; undefined for any other tool. */
export function kindOf(tool: Tool, format: Pick<WireFormat, "name" | "ownTools">): WebToolKind | undefined {
  return tool.type === "server" && tool.origin === format.name ? kindNamed(tool.name, format) : undefined;
}

/** The settings of web search in chat completions, which are a member of the body. */
export const SEARCH_MEMBER = "web_search_options";

/** The tools that a request asks for, at most one of each kind. */
export function wishesOf({ chat, format }: Pick<ChatTurn, "chat" | "format">, uses: number): ToolWish[] {
  const asked = new Map<WebToolKind, { shown: string; value: Readonly<Record<string, unknown>> }>();
  for (const tool of chat.tools) {
    const kind = kindOf(tool, format);
    if (kind !== undefined && !asked.has(kind)) asked.set(kind, settingsOf(tool as ServerTool, kind));
  }
  const member = chat.extra[SEARCH_MEMBER];
  if (isRecord(member)) asked.set("web_search", { shown: "web_search", value: member });
  return [...asked].map(([kind, { shown, value }]) => ({
    kind,
    shown,
    name: freeName(kind, chat.tools),
    maxUses: Math.min(uses, positive(value["max_uses"]) ?? uses),
    asked: positive(value["max_uses"]),
    ...domainsOf(value),
    ...placeOf(value["user_location"]),
    size: sizeOf(value),
    pageChars: kind === "web_fetch" ? readChars(value) : searchChars(value),
  }));
}

function settingsOf({ value, name }: ServerTool, kind: WebToolKind) {
  const inner = value[name] ?? value["parameters"];
  const shown = typeof value["name"] === "string" ? value["name"] : kind;
  return { shown, value: isRecord(inner) ? inner : value };
}

/** A name that no function of the client's has. */
function freeName(kind: WebToolKind, tools: readonly Tool[]): string {
  const taken = new Set(tools.flatMap((tool) => (tool.type === "server" ? [] : [tool.name])));
  let name: string = kind;
  while (taken.has(name)) name = `gateway_${name}`;
  return name;
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined;
}

function sizeOf(value: Readonly<Record<string, unknown>>): string | undefined {
  const size = String(value["search_context_size"] ?? "");
  return entryOf(PAGE_CHARS, size) === undefined ? undefined : size;
}

function searchChars(value: Readonly<Record<string, unknown>>): number {
  return entryOf(PAGE_CHARS, sizeOf(value) ?? "") ?? PAGE_CHARS_USUAL;
}

/** A token has about four characters. */
function readChars(value: Readonly<Record<string, unknown>>): number {
  const tokens = positive(value["max_content_tokens"]);
  return tokens === undefined ? READ_CHARS : Math.min(READ_CHARS, tokens * 4);
}

function domainsOf(value: Readonly<Record<string, unknown>>): Pick<ToolWish, "allowed" | "blocked"> {
  const filters = isRecord(value["filters"]) ? value["filters"] : value;
  const list = (names: unknown) =>
    Array.isArray(names)
      ? names.filter((name): name is string => typeof name === "string" && name !== "").slice(0, DOMAINS_MAX)
      : [];
  return {
    allowed: list(filters["allowed_domains"]),
    blocked: list(filters["blocked_domains"] ?? filters["excludeDomains"] ?? filters["exclude_domains"]),
  };
}

/** Where the user is, in words, and its parts. */
function placeOf(location: unknown): Pick<ToolWish, "place" | "location"> {
  if (!isRecord(location)) return { place: undefined, location: undefined };
  const place = isRecord(location["approximate"]) ? location["approximate"] : location;
  const parts = PLACE_PARTS.flatMap((part): [string, string][] => {
    const word = place[part];
    return typeof word === "string" && PLACE_WORD.test(word) ? [[part, word]] : [];
  });
  const words = parts.flatMap(([part, word]) => (part === "timezone" ? [] : [word]));
  return {
    place: words.length === 0 ? undefined : words.join(", "),
    location: parts.length === 0 ? undefined : Object.fromEntries(parts),
  };
}

const PLACE_PARTS = ["city", "region", "country", "timezone"];
const PLACE_WORD = /^[\p{L}\p{M}\d .,'()/_+-]{1,80}$/u;

/** Whether an address belongs to a domain of a list. An entry may name a path too. */
export function isWithin(url: string, domains: readonly string[]): boolean {
  const asked = placeAt(url);
  if (asked === undefined) return false;
  return domains.some((entry) => {
    const place = placeAt(/^https?:\/\//i.test(entry) ? entry : `https://${entry}`);
    if (place === undefined) return false;
    const isHost = asked.host === place.host || asked.host.endsWith(`.${place.host}`);
    return isHost && asked.path.startsWith(place.path);
  });
}

/** The host of an address as it is compared, and its path. */
function placeAt(address: string): { host: string; path: string } | undefined {
  if (!URL.canParse(address)) return undefined;
  const { hostname, pathname } = new URL(address);
  // A name with the dot of the root is the same host.
  return { host: hostname.replace(/\.$/, ""), path: pathname };
}

/** Whether the limits of a tool let it use an address. */
export function mayUse(url: string, { allowed, blocked }: Pick<ToolWish, "allowed" | "blocked">): boolean {
  return (allowed.length === 0 || isWithin(url, allowed)) && !isWithin(url, blocked);
}
