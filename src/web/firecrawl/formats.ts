// Reads `formats` of Firecrawl's clients, which are names, or objects with options.

import type { PictureOptions } from "../../pages/browser/read-page.ts";
import type { AttributeWish } from "../../pages/content/picks.ts";
import { isSelector } from "../../pages/dom/select.ts";
import { schemaRefused } from "../extract/input.ts";
import { checkSchema, type JsonSchema } from "../extract/schema.ts";
import { SchemaError } from "../extract/schema-error.ts";
import { type Body, invalid, readBoolean, readText } from "../params.ts";
import { readPicture } from "./actions.ts";

/** What a document must contain. */
export interface FormatWishes {
  readonly markdown: boolean;
  readonly html: boolean;
  readonly rawHtml: boolean;
  readonly links: boolean;
  readonly images: boolean;
  readonly screenshot: ({ readonly fullPage: boolean } & PictureOptions) | null;
  readonly json: { readonly prompt: string; readonly schema: JsonSchema | null } | null;
  readonly summary: boolean;
  /** A question about the page; null if there is none. */
  readonly question: string | null;
  readonly attributes: readonly AttributeWish[];
  /** The requested formats that are not supported here. */
  readonly missing: readonly string[];
}

const NONE: FormatWishes = {
  markdown: false,
  html: false,
  rawHtml: false,
  links: false,
  images: false,
  screenshot: null,
  json: null,
  summary: false,
  question: null,
  attributes: [],
  missing: [],
};

/** Maximum number of entries in `formats`. */
export const FORMATS_MAX = 50;
const SELECTORS_MAX = 50;
const PROMPT_CHARS_MAX = 20_000;
/** The prompt for clients that only give a schema. */
const SCHEMA_PROMPT = "Extract what the schema describes.";
/** Formats of Firecrawl's API that are not supported here. */
const MISSING = ["changeTracking", "branding", "product", "menu", "audio", "video", "highlights", "deterministicJson"];

/** Reads `formats`. Throws 400. */
export function readFormats(value: unknown): FormatWishes {
  if (value === undefined || value === null) return { ...NONE, markdown: true };
  if (!Array.isArray(value)) throw invalid("formats", "formats must be a list.");
  if (value.length > FORMATS_MAX) throw invalid("formats", `formats may hold at most ${FORMATS_MAX} entries.`);
  if (value.length === 0) return { ...NONE, markdown: true };
  let wishes = NONE;
  value.forEach((item: unknown, index) => {
    wishes = { ...wishes, ...readFormat(item, `formats[${index}]`, wishes) };
  });
  return wishes;
}

function readFormat(item: unknown, at: string, known: FormatWishes): Partial<FormatWishes> {
  const options: Body = typeof item === "object" && item !== null ? (item as Body) : {};
  const name = typeof item === "string" ? item : options["type"];
  switch (name) {
    case "markdown":
    case "html":
    case "rawHtml":
    case "links":
    case "images":
    case "summary":
      return { [name]: true };
    case "screenshot":
    case "screenshot@fullPage": {
      const fullPage = name === "screenshot@fullPage" || readBoolean(options, ["fullPage"], false);
      return { screenshot: { fullPage, ...readPicture(options) } };
    }
    case "json":
      return { json: readJson(options, at) };
    case "question":
    case "query":
      return { question: readQuestion(options, at) };
    case "attributes":
      return { attributes: [...known.attributes, ...readAttributes(options, at)] };
    default:
      if (typeof name === "string" && MISSING.includes(name)) return { missing: [...known.missing, name] };
      throw invalid(
        at,
        `${at} must be markdown, html, rawHtml, links, images, screenshot, summary, or an object whose type is one of these, json, question or attributes.`,
      );
  }
}

function readJson(options: Body, at: string): NonNullable<FormatWishes["json"]> {
  const prompt = readText(options, ["prompt"]) ?? "";
  if (prompt.length > PROMPT_CHARS_MAX)
    throw invalid(`${at}.prompt`, `${at}.prompt may have at most ${PROMPT_CHARS_MAX} characters.`);
  const { schema = null } = options;
  if (schema === null && prompt.trim() === "") throw invalid(at, `${at} needs a schema or a prompt.`);
  try {
    return {
      prompt: prompt.trim() === "" ? SCHEMA_PROMPT : prompt,
      schema: schema === null ? null : checkSchema(schema),
    };
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const { message } = schemaRefused(error) as Error;
    throw invalid(`${at}.schema`, `${at}.${message}`);
  }
}

function readQuestion(options: Body, at: string): string {
  const text = readText(options, ["question", "prompt"]);
  if (text === undefined || text.trim() === "" || text.length > PROMPT_CHARS_MAX)
    throw invalid(at, `${at} needs a question of at most ${PROMPT_CHARS_MAX} characters.`);
  return text;
}

function readAttributes(options: Body, at: string): AttributeWish[] {
  const { selectors } = options;
  if (!Array.isArray(selectors) || selectors.length === 0 || selectors.length > SELECTORS_MAX)
    throw invalid(`${at}.selectors`, `${at}.selectors must be a list of 1 to ${SELECTORS_MAX} entries.`);
  return selectors.map((item: unknown, index) => {
    const { selector, attribute } = (item ?? {}) as Body;
    const isGood =
      typeof selector === "string" && isSelector(selector) && typeof attribute === "string" && attribute.length <= 100;
    if (!isGood)
      throw invalid(
        `${at}.selectors[${index}]`,
        `${at}.selectors[${index}] must hold a CSS selector and the name of an attribute.`,
      );
    return { selector, attribute };
  });
}
