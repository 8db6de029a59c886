// The web tools as forms: the fields of each, and the request that it sends. A test compares them with the API's
// description.

/** The type of a field. */
type Kind = "url" | "text" | "words" | "lines" | "number" | "switch" | "choice" | "choices" | "json";

/** A field of a form. */
export interface ToolField {
  /** The name of the parameter in the API. */
  readonly name: string;
  readonly label: string;
  readonly kind: Kind;
  readonly required?: true;
  /** Visible without opening the options. */
  readonly main?: true;
  readonly min?: number;
  readonly max?: number;
  readonly placeholder?: string;
  readonly hint?: string;
  readonly choices?: readonly string[];
  /** The default of a switch or of a list of choices. */
  readonly initial?: string;
}

/** A web tool. */
export interface WebTool {
  readonly slug: "scrape" | "map" | "crawl" | "search" | "extract" | "llmstxt";
  readonly name: string;
  /** The label of its button. */
  readonly action: string;
  readonly about: string;
  /** Starts a job that is then watched, instead of answering directly. */
  readonly isJob: boolean;
  readonly fields: readonly ToolField[];
}

/** The values of the form by name. A switch is `true` or `false`; choices and lines are separated by line breaks. */
export type ToolValues = Readonly<Record<string, string>>;

const URL_FIELD: ToolField = {
  name: "url",
  label: "Address",
  kind: "url",
  required: true,
  main: true,
  placeholder: "https://example.com/",
};
const SHAPE: readonly ToolField[] = [
  {
    name: "formats",
    label: "Formats",
    kind: "choices",
    choices: ["markdown", "html", "links", "screenshot"],
    initial: "markdown",
  },
  { name: "only_main_content", label: "Main content only", kind: "switch", initial: "true" },
  { name: "full_page", label: "Whole page in the screenshot", kind: "switch", initial: "false" },
  { name: "documents", label: "PDF and other documents", kind: "switch", initial: "false" },
];
const TIMEOUT: ToolField = {
  name: "timeout_ms",
  label: "Time limit in ms",
  kind: "number",
  min: 1000,
  max: 300_000,
  placeholder: "60000",
};
const GLOBS = "One per line. * matches within a segment, ** across segments.";

/** The tools. */
export const WEB_TOOLS: readonly [WebTool, ...WebTool[]] = [
  {
    slug: "scrape",
    name: "Scrape",
    action: "Scrape",
    about: "One page as clean Markdown.",
    isJob: false,
    fields: [URL_FIELD, ...SHAPE, TIMEOUT],
  },
  {
    slug: "crawl",
    name: "Crawl",
    action: "Start crawl",
    about: "A site's pages, followed link by link.",
    isJob: true,
    fields: [
      URL_FIELD,
      { name: "limit", label: "Page limit", kind: "number", min: 1, max: 100, placeholder: "10" },
      {
        name: "max_depth",
        label: "Maximum link depth",
        kind: "number",
        min: 1,
        max: 10,
        placeholder: "No limit",
      },
      { name: "include_paths", label: "Include paths", kind: "lines", placeholder: "/docs/**", hint: GLOBS },
      { name: "exclude_paths", label: "Exclude paths", kind: "lines", placeholder: "/blog/**", hint: GLOBS },
      ...SHAPE,
    ],
  },
  {
    slug: "map",
    name: "Map",
    action: "Map",
    about: "The addresses of a site, without reading its pages.",
    isJob: false,
    fields: [
      URL_FIELD,
      { name: "search", label: "Only addresses that contain", kind: "text", placeholder: "docs" },
      { name: "limit", label: "Address limit", kind: "number", min: 1, max: 5000, placeholder: "5000" },
      TIMEOUT,
    ],
  },
  {
    slug: "search",
    name: "Search",
    action: "Search",
    about: "Several search engines at once, merged.",
    isJob: false,
    fields: [
      { name: "text_query", label: "Query", kind: "text", required: true, main: true, placeholder: "web standards" },
      { name: "limit", label: "Result limit", kind: "number", min: 1, max: 20, placeholder: "5" },
      {
        name: "categories",
        label: "Category",
        kind: "choice",
        choices: ["general", "news", "science", "it", "social media", "videos", "music", "files", "images", "map"],
        initial: "general",
      },
      { name: "language", label: "Language", kind: "text", placeholder: "auto" },
      { name: "timeout_seconds", label: "Time limit in seconds", kind: "number", min: 5, max: 60, placeholder: "30" },
      { name: "include_content", label: "Also read the pages", kind: "switch", initial: "false" },
    ],
  },
  {
    slug: "extract",
    name: "Extract",
    action: "Start extraction",
    about: "Data from pages, each field with the quote that it comes from.",
    isJob: true,
    fields: [
      {
        name: "urls",
        label: "Addresses",
        kind: "lines",
        required: true,
        main: true,
        placeholder: "https://example.com/",
        hint: "One per line, at most 20.",
      },
      {
        name: "prompt",
        label: "What to extract",
        kind: "words",
        required: true,
        main: true,
        placeholder: "Name and price of each product",
      },
      { name: "schema", label: "JSON Schema", kind: "json", placeholder: '{"type": "object", "properties": {}}' },
      { name: "system_prompt", label: "Further instructions", kind: "words" },
      { name: "allow_external_links", label: "Follow links to other sites", kind: "switch", initial: "false" },
      { name: "documents", label: "PDF and other documents", kind: "switch", initial: "false" },
      { name: "only_main_content", label: "Main content only", kind: "switch", initial: "false" },
    ],
  },
  {
    slug: "llmstxt",
    name: "llms.txt",
    action: "Make llms.txt",
    about: "An index of a site for language models.",
    isJob: true,
    fields: [
      URL_FIELD,
      { name: "max_urls", label: "Page limit", kind: "number", min: 1, max: 100, placeholder: "10" },
      { name: "show_full_text", label: "Also make llms-full.txt", kind: "switch", initial: "false" },
    ],
  },
];

/** The body of the request, without values that equal the default. Throws `FieldProblem`. */
export function toolBody({ fields }: WebTool, values: ToolValues): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const field of fields) {
    const value = sentValue(field, values[field.name] ?? field.initial ?? "");
    if (value !== undefined) body[field.name] = value;
  }
  return body;
}

/** The error of a field, found before anything is sent. */
export class FieldProblem extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

function sentValue(field: ToolField, text: string): unknown {
  const { name, label, kind, required, initial } = field;
  const trimmed = text.trim();
  if (trimmed === "" && required) throw new FieldProblem(name, `${label} is missing.`);
  if (trimmed === "" || text === initial) return undefined;
  if (kind === "url") return withScheme(trimmed);
  if (kind === "switch") return text === "true";
  if (kind === "number") return numberOf(field, trimmed);
  if (kind === "lines" || kind === "choices") return filledLines(text);
  if (kind !== "json") return trimmed;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new FieldProblem(
      name,
      `${label} is not valid JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function numberOf({ name, label, min = 0, max = Number.MAX_SAFE_INTEGER }: ToolField, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new FieldProblem(name, `${label} must be a whole number from ${min} to ${max}.`);
}

/** The lines that are not empty, trimmed. */
export function filledLines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Adds `https://` to an address without a scheme. */
function withScheme(url: string): string {
  const text = url.trim();
  return text === "" || /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`;
}
