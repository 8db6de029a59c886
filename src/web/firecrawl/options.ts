// Reads the page options of Firecrawl's clients. Options that are accepted but have no effect are named in a warning, so that
// nobody relies on them.

import type { BrowserAction } from "../../pages/browser/browsing.ts";
import { isSelector } from "../../pages/dom/select.ts";
import { type Body, invalid, readBoolean, readInteger, readTexts } from "../params.ts";
import { type ActionRules, readActions, waitsOf } from "./actions.ts";
import { type FormatWishes, readFormats } from "./formats.ts";
import { readHeaders } from "./headers.ts";

/** The options of a page. They are stored with jobs, so they contain no headers, which may be credentials. */
export interface PageOptions {
  readonly formats: FormatWishes;
  readonly includeTags: readonly string[];
  readonly excludeTags: readonly string[];
  readonly onlyMainContent: boolean;
  readonly timeoutMs: number;
  readonly waitMs: number;
  readonly isMobile: boolean;
  readonly readsPdf: boolean;
  readonly actions: readonly BrowserAction[];
  readonly languages: readonly string[];
  readonly keepsDataImages: boolean;
  readonly blocksAds: boolean;
  /** Maximum age of a cached page; if null, the operator's default. */
  readonly maxAgeMs: number | null;
  readonly isStored: boolean;
  /** The requested options that have no effect here. */
  readonly unmet: readonly string[];
}

/** The options, and the headers, which are only kept in memory. */
export interface ScrapeWish {
  readonly options: PageOptions;
  readonly headers: Readonly<Record<string, string>>;
}

const TIMEOUT = { min: 1000, max: 300_000 };
const TIMEOUT_MS = 60_000;
const SELECTORS_MAX = 100;
const LANGUAGES_MAX = 10;
const AGE_MS_MAX = Number.MAX_SAFE_INTEGER;

/** Options that are accepted but have no effect here. */
const UNMET = [
  "proxy",
  "minAge",
  "lockdown",
  "redactPII",
  "threatProtection",
  "profile",
  "auditMetadata",
  "domainTools",
  "useMock",
  "zeroDataRetention",
] as const;
/** Values of these options that request nothing, so that no warning is needed. */
const PLAIN_VALUES: ReadonlySet<unknown> = new Set([undefined, null, false, "basic", "auto"]);

/** Reads the options of a page. Throws 400. */
export function readOptions(body: Body, rules: ActionRules): ScrapeWish {
  const formats = readFormats(body["formats"]);
  const timeoutMs = readInteger(body, ["timeout"], TIMEOUT) ?? TIMEOUT_MS;
  const waitMs = readInteger(body, ["waitFor"], { min: 0, max: 60_000 }) ?? 0;
  const actions = readActions(body["actions"], rules);
  if (waitMs + waitsOf(actions) >= timeoutMs)
    throw invalid("actions", "waitFor and the waits of actions must together be shorter than timeout.");
  const { languages, country } = readLocation(body["location"]);
  const { readsPdf, unmet: parsers } = readParsers(body["parsers"]);
  const unmet = [
    ...UNMET.filter((name) => !PLAIN_VALUES.has(body[name])),
    ...(country === undefined ? [] : ["location.country"]),
    ...(body["skipTlsVerification"] === true ? ["skipTlsVerification"] : []),
    ...(body["fastMode"] === true ? ["fastMode"] : []),
    ...parsers,
    ...formats.missing.map((name) => `formats: ${name}`),
  ];
  return {
    headers: readHeaders(body["headers"]),
    options: {
      formats,
      includeTags: readSelectors(body, "includeTags"),
      excludeTags: readSelectors(body, "excludeTags"),
      onlyMainContent: readBoolean(body, ["onlyMainContent"], true),
      timeoutMs,
      waitMs,
      isMobile: readBoolean(body, ["mobile"], false),
      readsPdf,
      actions,
      languages,
      keepsDataImages: !readBoolean(body, ["removeBase64Images"], true),
      blocksAds: readBoolean(body, ["blockAds"], true),
      maxAgeMs: readInteger(body, ["maxAge"], { min: 0, max: AGE_MS_MAX }) ?? null,
      isStored: readBoolean(body, ["storeInCache"], true),
      unmet,
    },
  };
}

function readSelectors(body: Body, name: string): string[] {
  const selectors = readTexts(body, [name]) ?? [];
  if (selectors.length > SELECTORS_MAX) throw invalid(name, `${name} may hold at most ${SELECTORS_MAX} selectors.`);
  selectors.forEach((selector, index) => {
    const param = `${name}[${index}]`;
    if (!isSelector(selector)) throw invalid(param, `${param} must be a CSS selector of at most 300 characters.`);
  });
  return selectors;
}

/** Which types of documents are read; by default all of them. */
function readParsers(value: unknown): { readsPdf: boolean; unmet: string[] } {
  if (value === undefined || value === null) return { readsPdf: true, unmet: [] };
  if (!Array.isArray(value)) throw invalid("parsers", "parsers must be a list.");
  const unmet: string[] = [];
  let readsPdf = false;
  value.forEach((item: unknown, index) => {
    const { type, ...more } = typeof item === "string" ? { type: item } : ((item ?? {}) as Body);
    if (typeof type !== "string") throw invalid(`parsers[${index}]`, `parsers[${index}] must name a parser.`);
    if (type === "pdf") readsPdf = true;
    else unmet.push(`parsers: ${type}`);
    for (const name of Object.keys(more)) unmet.push(`parsers: ${name}`);
  });
  return { readsPdf, unmet };
}

function readLocation(value: unknown): { languages: string[]; country: unknown } {
  if (value === undefined || value === null) return { languages: [], country: undefined };
  if (typeof value !== "object") throw invalid("location", "location must be an object.");
  const languages = readTexts(value as Body, ["languages"]) ?? [];
  if (languages.length > LANGUAGES_MAX)
    throw invalid("location.languages", `location.languages may hold at most ${LANGUAGES_MAX} languages.`);
  languages.forEach((language, index) => {
    if (!/^[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,4}$/i.test(language))
      throw invalid(
        `location.languages[${index}]`,
        `location.languages[${index}] must be a language, such as de or pt-BR.`,
      );
  });
  return { languages, country: (value as Body)["country"] ?? undefined };
}

/** The warning about ignored options; undefined if there is none. */
export function warningOf(unmet: readonly string[]): string | undefined {
  if (unmet.length === 0) return undefined;
  return `These options have no effect here: ${[...new Set(unmet)].join(", ")}.`;
}
