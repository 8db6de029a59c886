// One HTML page → Markdown, cleaned HTML, links and metadata. Pure and synchronous; takes seconds at worst, so run it in a
// worker.

import { fillFromState } from "../content/embedded.ts";
import { keepMainContent } from "../content/main-content.ts";
import {
  type AttributeValues,
  type AttributeWish,
  keepOnly,
  leaveOut,
  readAttributes,
  readImages,
} from "../content/picks.ts";
import { tidy } from "../content/tidy.ts";
import { createTrace, type Removal, type TracedPart } from "../content/trace.ts";
import { loadWeights } from "../content/weights.ts";
import { type PageDocument, parsePage } from "../dom/parse.ts";
import { serialize } from "../dom/serialize.ts";
import { toMarkdown } from "../markdown/markdown.ts";
import { type StructuredData, structuredData } from "../structured/structured.ts";
import { readLinks } from "./links.ts";
import { type Metadata, readMetadata } from "./metadata.ts";
import { type NavigationLink, readNavigation } from "./navigation.ts";
import { needsScript, refreshTarget, visibleChars } from "./needs-script.ts";

/** What is wanted from a page. */
export interface ExtractOptions {
  /** Address of the page, after redirects. */
  readonly url: string;
  /** The `Refresh` header. */
  readonly refresh?: string | null;
  readonly onlyMainContent: boolean;
  readonly markdown: boolean;
  readonly html: boolean;
  readonly links: boolean;
  /** The text and position of each link of the page. */
  readonly navigation?: boolean;
  /** Read the page's structured data. */
  readonly structured?: boolean;
  /** Record what was removed and kept, and why; costs time. */
  readonly trace?: boolean;
  /** What the caller chooses by itself. */
  readonly picks?: PagePicks | undefined;
}

/** What a caller chooses of a page by itself. */
export interface PagePicks {
  /** Selectors of the parts that are kept alone; none: the page's own content. */
  readonly include: readonly string[];
  /** Selectors of parts that are left out. */
  readonly exclude: readonly string[];
  readonly attributes: readonly AttributeWish[];
  readonly images: boolean;
  /** The page as it came. */
  readonly rawHtml: boolean;
  /** Pictures that are written into the page stay in it. */
  readonly keepsDataImages: boolean;
}

/** What was asked for, and what is always returned. */
export interface Extracted {
  readonly markdown?: string;
  readonly html?: string;
  /** Without the links of navigation, header, footer and sidebars when only the main content is wanted. */
  readonly links?: string[];
  /** All links of the page, one per line, for crawls: one string crosses between threads faster than many. */
  readonly allLinks: string;
  /** With their text and positions, if asked for. */
  readonly navigation?: readonly NavigationLink[];
  readonly metadata: Metadata;
  readonly structured?: StructuredData;
  /** Why the page should be rendered in a browser; undefined when it is fine as it is. */
  readonly needsScript: string | undefined;
  /** How much text the whole page has nevertheless; present only then. */
  readonly textChars?: number;
  /** Where a refresh, of the page or of its header, sends the reader immediately. */
  readonly refreshUrl?: string;
  readonly removals?: readonly Removal[];
  /** The blocks that were judged, when only the main content is wanted. */
  readonly parts?: readonly TracedPart[];
  readonly rawHtml?: string;
  /** Addresses of the whole page's pictures. */
  readonly images?: readonly string[];
  readonly attributes?: readonly AttributeValues[];
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
  const navigation = options.navigation === true ? readNavigation(document, options.url) : undefined;
  const picked = options.picks === undefined ? undefined : pick(document, options.picks, options.url);
  const links = linksOf(document, options, allLinks);
  tidy(document, options.url, trace, options.picks);
  if (options.onlyMainContent && picked?.isChosen !== true)
    keepMainContent(document, { url: options.url, weights: loadWeights(), trace });
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
    ...picked?.found,
    ...(options.picks?.rawHtml === true ? { rawHtml: html } : {}),
  };
}

/** The links that are wanted: of the parts that the caller chose, of all but the frame, or all. */
function linksOf(document: PageDocument, { onlyMainContent, picks, url }: ExtractOptions, all: string[]): string[] {
  if (picks !== undefined && picks.include.length > 0) return readLinks(document, url, { withoutFrame: false });
  if (!onlyMainContent && (picks?.exclude.length ?? 0) === 0) return all;
  return readLinks(document, url, { withoutFrame: onlyMainContent });
}

/** Reads what is asked for of the whole page, then takes out what is not wanted. */
function pick(document: PageDocument, picks: PagePicks, url: string) {
  const found = {
    ...(picks.attributes.length === 0 ? {} : { attributes: readAttributes(document, picks.attributes) }),
    ...(picks.images ? { images: readImages(document, url) } : {}),
  };
  leaveOut(document, picks.exclude);
  if (picks.include.length > 0) keepOnly(document, picks.include);
  return { found, isChosen: picks.include.length > 0 };
}
