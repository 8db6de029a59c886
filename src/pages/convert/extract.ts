// One HTML page → Markdown, cleaned HTML, links and metadata. Pure and synchronous, seconds at worst: run it in a worker.

import { fillFromState } from "../content/embedded.ts";
import { keepMainContent } from "../content/main-content.ts";
import { tidy } from "../content/tidy.ts";
import { createTrace, type Removal, type TracedPart } from "../content/trace.ts";
import { loadWeights } from "../content/weights.ts";
import { parsePage } from "../dom/parse.ts";
import { serialize } from "../dom/serialize.ts";
import { toMarkdown } from "../markdown/markdown.ts";
import { type StructuredData, structuredData } from "../structured/structured.ts";
import { readLinks } from "./links.ts";
import { type Metadata, readMetadata } from "./metadata.ts";
import { type NavigationLink, readNavigation } from "./navigation.ts";
import { needsScript, refreshTarget, visibleChars } from "./needs-script.ts";

/** What is wanted of a page. */
export interface ExtractOptions {
  /** Address of the page, after redirects. */
  readonly url: string;
  /** The header of that name. */
  readonly refresh?: string | null;
  readonly onlyMainContent: boolean;
  readonly markdown: boolean;
  readonly html: boolean;
  readonly links: boolean;
  /** Where and how each link of the page stands. */
  readonly navigation?: boolean;
  /** Read what the page says in forms made for programs. */
  readonly structured?: boolean;
  /** Remember what was removed and kept, and why; costs time. */
  readonly trace?: boolean;
}

/** What was asked for, and what is always worth knowing. */
export interface Extracted {
  readonly markdown?: string;
  readonly html?: string;
  /** Without those of navigation, header, footer and sidebars when only the main content is wanted. */
  readonly links?: string[];
  /** Of the whole page, line by line, for crawls: one text crosses between threads faster than many. */
  readonly allLinks: string;
  /** With their words and places, when asked for. */
  readonly navigation?: readonly NavigationLink[];
  readonly metadata: Metadata;
  readonly structured?: StructuredData;
  /** Why the page should be rendered in a browser; undefined when it is fine as it is. */
  readonly needsScript: string | undefined;
  /** How much there is to read on the whole page all the same; told only then. */
  readonly textChars?: number;
  /** Where a refresh, of the page or of its header, sends the reader at once. */
  readonly refreshUrl?: string;
  readonly removals?: readonly Removal[];
  /** What was chosen from, when only the main content is wanted. */
  readonly parts?: readonly TracedPart[];
}

/** Extracts a page. */
export function extractPage(html: string, options: ExtractOptions): Extracted {
  const document = parsePage(html);
  const trace = createTrace(options.trace === true);
  const metadata = readMetadata(document, options.url);
  const structured = options.structured === true ? structuredData(document, options.url) : undefined;
  const script = needsScript(document);
  if (script !== undefined) fillFromState(document);
  const textChars = script === undefined ? undefined : visibleChars(document.body);
  const refreshUrl = refreshTarget(document, options.url, options.refresh);
  const allLinks = readLinks(document, options.url, { withoutFrame: false });
  const links = options.onlyMainContent ? readLinks(document, options.url, { withoutFrame: true }) : allLinks;
  const navigation = options.navigation === true ? readNavigation(document, options.url) : undefined;
  tidy(document, options.url, trace);
  if (options.onlyMainContent) keepMainContent(document, { url: options.url, weights: loadWeights(), trace });
  const cleaned = options.html ? serialize(document.body) : undefined;
  return {
    ...(options.markdown ? { markdown: toMarkdown(document.body) } : {}),
    ...(cleaned === undefined ? {} : { html: cleaned }),
    ...(options.links ? { links } : {}),
    allLinks: allLinks.join("\n"),
    ...(navigation === undefined ? {} : { navigation }),
    metadata,
    ...(structured === undefined ? {} : { structured }),
    needsScript: script,
    ...(textChars === undefined ? {} : { textChars }),
    ...(refreshUrl === undefined ? {} : { refreshUrl }),
    ...(options.trace === true ? { removals: trace.removals, parts: trace.parts } : {}),
  };
}
