// Reads the parameters of an extraction. Invalid ones lead to a 400 with their path. Firecrawl's parameter names are accepted
// too.

import { type Body, checkUrl, invalid, readBoolean, readInteger, readText, readTexts } from "../params.ts";
import { checkSchema, type JsonSchema } from "./schema.ts";
import { SchemaError } from "./schema-error.ts";

/** The parameters as they are stored with a job. */
export interface ExtractInput {
  readonly urls: readonly string[];
  readonly prompt: string;
  /** If null, the prompt alone describes the result. */
  readonly schema: JsonSchema | null;
  /** The caller's own instructions to the model; may be empty. */
  readonly systemPrompt: string;
  readonly allowExternalLinks: boolean;
  readonly documents: boolean;
  readonly onlyMainContent: boolean;
}

/** The parameters, and how long the client waits for the result. */
export interface ExtractRequest {
  readonly input: ExtractInput;
  readonly waitMs: number;
}

const URLS_MAX = 20;
const TIMEOUT_SECONDS = { min: 10, max: 120, fallback: 60 };
/** Maximum length of the prompt and the instructions, which are sent with every part of every page. */
const PROMPT_CHARS_MAX = 20_000;
/** The prompt for clients that only give a schema, as Firecrawl's may. */
const SCHEMA_PROMPT = "Extract what the schema describes.";

/** Reads the parameters. Throws 400. */
export function readExtract(body: Body): ExtractRequest {
  return {
    input: {
      urls: readUrls(body),
      prompt: readPrompt(body),
      schema: readSchema(body),
      systemPrompt: shortText(body, ["system_prompt", "systemPrompt"]) ?? "",
      allowExternalLinks: readBoolean(body, ["allow_external_links", "allowExternalLinks"], false),
      documents: readBoolean(body, ["documents"], false),
      // By default, all of the page is read, since tables, prices and specifications are often outside of the main content.
      onlyMainContent: readBoolean(scrapeOptions(body), ["only_main_content", "onlyMainContent"], false),
    },
    waitMs: readWaitMs(body),
  };
}

function readUrls(body: Body): string[] {
  const urls = readTexts(body, ["urls"]);
  if (urls === undefined) throw invalid("urls", "Missing required parameter: urls.");
  if (urls.length === 0) throw invalid("urls", "urls must hold at least one address.");
  if (urls.length > URLS_MAX) throw invalid("urls", `urls may hold at most ${URLS_MAX} addresses.`);
  return urls.map((url, index) => {
    const param = `urls[${index}]`;
    const checked = checkUrl(url, param);
    if (!/^https?:/i.test(checked)) throw invalid(param, `${param} must be an http or https address.`);
    if (new URL(checked).pathname.endsWith("/*"))
      throw invalid(
        param,
        `${param} ends with a wildcard (/*), which is not expanded here. Name the pages; /v1/map lists those of a site.`,
      );
    return checked;
  });
}

function readPrompt(body: Body): string {
  const prompt = shortText(body, ["prompt"]);
  if (prompt !== undefined && prompt.trim() !== "") return prompt;
  // Firecrawl's clients, which identify themselves in `origin`, may give a schema without a prompt.
  if (typeof body["origin"] === "string" && typeof body["schema"] === "object" && body["schema"] !== null)
    return SCHEMA_PROMPT;
  throw invalid("prompt", prompt === undefined ? "Missing required parameter: prompt." : "prompt must not be empty.");
}

function shortText(body: Body, names: readonly string[]): string | undefined {
  const text = readText(body, names);
  const name = names.find((known) => body[known] !== undefined) ?? names[0] ?? "";
  if (text !== undefined && text.length > PROMPT_CHARS_MAX)
    throw invalid(name, `${name} may have at most ${PROMPT_CHARS_MAX} characters.`);
  return text;
}

function readSchema(body: Body): JsonSchema | null {
  const schema = body["schema"];
  if (schema === undefined || schema === null) return null;
  try {
    return checkSchema(schema);
  } catch (error) {
    throw schemaRefused(error);
  }
}

/** Converts a schema error into a 400 that names the place in the schema. Other errors are returned unchanged. */
export function schemaRefused(error: unknown): unknown {
  if (!(error instanceof SchemaError)) return error;
  const param = `schema${pathOf(error.place)}`;
  return invalid(param, `${param}: ${error.message}`);
}

/** Converts a JSON pointer to the notation of parameters, such as `.properties.price` or `.anyOf[0]`. */
function pathOf(pointer: string): string {
  const steps = pointer.split("/").slice(1);
  return steps
    .map((step) => step.replace(/~1/g, "/").replace(/~0/g, "~"))
    .map((step) =>
      /^\d+$/.test(step) ? `[${step}]` : /^[\w$-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`,
    )
    .join("");
}

/** The options for pages, which may be inside `scrapeOptions`. */
function scrapeOptions(body: Body): Body {
  const inner = body["scrapeOptions"];
  return typeof inner === "object" && inner !== null ? { ...inner, ...body } : body;
}

function readWaitMs(body: Body): number {
  const { min, max, fallback } = TIMEOUT_SECONDS;
  const seconds = readInteger(body, ["timeout_seconds", "timeoutSeconds"], { min, max });
  // Firecrawl's clients send milliseconds, possibly more or less than an extraction allows.
  const ms = readInteger(body, ["timeout"], { min: 1000, max: 3_600_000 });
  if (seconds !== undefined) return seconds * 1000;
  return ms === undefined ? fallback * 1000 : Math.min(max * 1000, Math.max(min * 1000, ms));
}
