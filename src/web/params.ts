// Reads the parameters of the web endpoints. Names are in snake_case; the camelCase names of Firecrawl's clients are accepted
// too. Unknown fields are ignored; an invalid value leads to a 400 that names its path.

import { ApiError } from "../base/errors.ts";

/** A request body. */
export type Body = Readonly<Record<string, unknown>>;

/** A format in which a page is returned. */
export type Format = "markdown" | "html" | "links" | "screenshot";

const FORMATS: readonly Format[] = ["markdown", "html", "links", "screenshot"];
const URL_CHARS_MAX = 8192;
const LIST_MAX = 1000;

/** The error for an invalid parameter: 400 `invalid_request`. */
export function invalid(param: string, message: string): ApiError {
  return new ApiError("invalid_request", message, { param });
}

/** The first of these names that is present, with its value. */
function pick(body: Body, names: readonly string[]): { name: string; value: unknown } {
  for (const name of names) if (body[name] !== undefined && body[name] !== null) return { name, value: body[name] };
  return { name: names[0] as string, value: undefined };
}

/** Reads a required http or https address. */
export function readUrl(body: Body, name = "url"): string {
  const { value } = pick(body, [name]);
  if (value === undefined) throw invalid(name, `Missing required parameter: ${name}.`);
  return checkUrl(value, name);
}

/** Checks an address that is the value of a parameter. */
export function checkUrl(value: unknown, param: string): string {
  if (typeof value === "string" && value.length > URL_CHARS_MAX)
    throw invalid(param, `${param} may have at most ${URL_CHARS_MAX} characters.`);
  if (typeof value !== "string" || !URL.canParse(value.trim()))
    throw invalid(param, `${param} must be a fully-qualified URL, such as https://example.com/page.`);
  return value.trim();
}

/** Reads an integer within bounds. */
export function readInteger(
  body: Body,
  names: readonly string[],
  { min, max }: { min: number; max: number },
): number | undefined {
  const { name, value } = pick(body, names);
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max)
    throw invalid(name, `${name} must be an integer from ${min} to ${max}.`);
  return value;
}

/** Reads a boolean. */
export function readBoolean(body: Body, names: readonly string[], fallback: boolean): boolean {
  const { name, value } = pick(body, names);
  if (value === undefined) return fallback;
  if (typeof value !== "boolean") throw invalid(name, `${name} must be true or false.`);
  return value;
}

/** Reads a string. */
export function readText(body: Body, names: readonly string[]): string | undefined {
  const { name, value } = pick(body, names);
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw invalid(name, `${name} must be a string.`);
  return value;
}

/** Reads a list of strings. */
export function readTexts(body: Body, names: readonly string[]): string[] | undefined {
  const { name, value } = pick(body, names);
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.length > LIST_MAX) throw invalid(name, `${name} must be a list of strings.`);
  value.forEach((item, index) => {
    if (typeof item !== "string") throw invalid(`${name}[${index}]`, `${name}[${index}] must be a string.`);
  });
  return value as string[];
}

/** The options of a page. */
export interface PageShape {
  readonly formats: readonly Format[];
  readonly fullPage: boolean;
  readonly onlyMainContent: boolean;
  readonly documents: boolean;
}

/** Reads the parameters that scrape and crawl share. Those of a crawl may be inside `scrapeOptions`. */
export function readShape(body: Body): PageShape {
  const options =
    typeof body["scrapeOptions"] === "object" && body["scrapeOptions"] !== null ? (body["scrapeOptions"] as Body) : {};
  const all: Body = { ...options, ...body };
  const asked = readTexts(all, ["formats"]) ?? ["markdown"];
  const formats = asked.map((format, index) => readFormat(format, index));
  return {
    formats: formats.length === 0 ? ["markdown"] : [...new Set(formats)],
    fullPage: asked.includes("screenshot@fullPage") || readBoolean(all, ["full_page", "fullPage"], false),
    onlyMainContent: readBoolean(all, ["only_main_content", "onlyMainContent"], true),
    documents: readBoolean(all, ["documents"], false),
  };
}

function readFormat(format: string, index: number): Format {
  if (format === "screenshot@fullPage") return "screenshot";
  if (format === "rawHtml") return "html";
  const known = FORMATS.find((name) => name === format);
  if (known === undefined)
    throw invalid(`formats[${index}]`, `formats[${index}] must be one of ${FORMATS.join(", ")}.`);
  return known;
}
