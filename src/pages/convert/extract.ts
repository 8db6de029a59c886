// Converts one HTML page to Markdown, cleaned HTML, links and metadata. Pure and synchronous; it may take seconds, so it runs in
// a worker.

import { fillFromState } from "../content/embedded.ts";
import { removeInvisible } from "../content/invisible.ts";
import type { Doubt } from "../content/labels.ts";
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
import { Omissions } from "../dom/omissions.ts";
import { type PageDocument, parsePage } from "../dom/parse.ts";
import { serialize } from "../dom/serialize.ts";
import { toMarkdown } from "../markdown/markdown.ts";
import { type StructuredData, structuredData } from "../structured/structured.ts";
import { readLinks } from "./links.ts";
import { type Metadata, readMetadata } from "./metadata.ts";
import { type NavigationLink, readNavigation } from "./navigation.ts";
import { needsScript, refreshTarget, visibleChars } from "./needs-script.ts";
import type { SiteLinks } from "./site-links.ts";

/** What to extract from a page. */
export interface ExtractOptions {
  /** Address of the page, after redirects. */
  readonly url: string;
  /** The `Refresh` header. */
  readonly refresh?: string | null;
  readonly onlyMainContent: boolean;
  readonly markdown: boolean;
  readonly html: boolean;
  readonly links: boolean;
  /** Whether to return the text and position of each link of the page. */
  readonly navigation?: boolean;
  /** Whether to read the page's structured data. */
  readonly structured?: boolean;
  /** Whether to record what was removed and kept, and why. This takes time. */
  readonly trace?: boolean;
  /** The caller's own choice of parts. */
  readonly picks?: PagePicks | undefined;
  /** Whether a doubtful choice of main content is told with the page's blocks, so that they can be labelled. */
  readonly doubt?: Doubt | undefined;
  /** The numbers of the blocks that were labelled as main content. */
  readonly labelled?: readonly number[] | undefined;
}

/** A caller's own choice of parts of a page. */
export interface PagePicks {
  /** Selectors of the parts to keep; if there are none, the page's main content is kept. */
  readonly include: readonly string[];
  /** Selectors of parts that are left out. */
  readonly exclude: readonly string[];
  readonly attributes: readonly AttributeWish[];
  readonly images: boolean;
  /** Whether to return the page as it was received. */
  readonly rawHtml: boolean;
  /** Whether images embedded as data URLs are kept. */
  readonly keepsDataImages: boolean;
}

/** The result: the requested outputs, and facts that are always returned. */
export interface Extracted {
  readonly markdown?: string;
  readonly html?: string;
  /** If only the main content was requested, links in navigation, header, footer and sidebars are left out. */
  readonly links?: string[];
  /** All links of the page for crawls, one per line: one string is sent between threads faster than many. */
  readonly allLinks: string;
  /** Those that a crawl follows, if the task said how to select them. Then `allLinks` is empty. */
  readonly picked?: SiteLinks;
  /** The links with their text and positions, if they were requested. */
  readonly navigation?: readonly NavigationLink[];
  /** How good the choice of main content is: its predicted F1, from 0 to 1. Present if the program made the choice. */
  readonly quality?: number;
  /** The page's blocks in numbered lines, if the choice is doubtful and this was asked for. */
  readonly lines?: readonly string[];
  /** Whether the blocks of the main content were labelled by someone else than the program. */
  readonly isLabelled?: boolean;
  /** What the limits of the conversion left out, in sentences. */
  readonly omissions?: readonly string[];
  readonly metadata: Metadata;
  readonly structured?: StructuredData;
  /** Why the page should be rendered in a browser; undefined if that is not needed. */
  readonly needsScript: string | undefined;
  /** The number of characters in the whole page, present only if the page should be rendered. */
  readonly textChars?: number;
  /** The address to which an immediate refresh, of the page or of its header, leads. */
  readonly refreshUrl?: string;
  readonly removals?: readonly Removal[];
  /** The judged blocks, if only the main content and a trace were requested. */
  readonly parts?: readonly TracedPart[];
  readonly rawHtml?: string;
  /** Addresses of all images of the page. */
  readonly images?: readonly string[];
  readonly attributes?: readonly AttributeValues[];
}

/** Extracts a page. */
export function extractPage(html: string, options: ExtractOptions): Extracted {
  const document = parsePage(html);
  const omissions = new Omissions();
  if (document.isCut) omissions.add("nodes");
  const trace = createTrace(options.trace === true);
  const script = needsScript(document);
  if (script !== undefined) fillFromState(document);
  const textChars = script === undefined ? undefined : visibleChars(document.body);
  const refreshUrl = refreshTarget(document, options.url, options.refresh);
  const wantsAll = options.links && isOfAll(options);
  const allLinks = readLinks(document, options.url, {
    withoutFrame: false,
    omissions: wantsAll ? omissions : undefined,
  });
  const navigation = options.navigation === true ? readNavigation(document, options.url) : undefined;
  const found = options.picks === undefined ? undefined : readPicked(document, options.picks, options.url);
  // Before anything else is read, so that no reader sees what the page does not show.
  removeInvisible(document, trace);
  const metadata = readMetadata(document, options.url);
  const structured = options.structured === true ? structuredData(document, options.url) : undefined;
  const isChosen = options.picks !== undefined && pick(document, options.picks);
  const links = !options.links || wantsAll ? allLinks : linksOf(document, options, omissions);
  tidy(document, options.url, trace, { keepsDataImages: options.picks?.keepsDataImages, omissions });
  const { doubt, labelled } = options;
  const main =
    options.onlyMainContent && !isChosen
      ? keepMainContent(document, { url: options.url, weights: loadWeights(), trace, omissions, doubt, labelled })
      : {};
  const cleaned = options.html ? serialize(document.body) : undefined;
  const markdown = options.markdown ? markdownOf(document, omissions) : undefined;
  const left = omissions.sentences();
  return {
    ...(markdown === undefined ? {} : { markdown }),
    ...main,
    ...(left.length === 0 ? {} : { omissions: left }),
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
    ...found,
    ...(options.picks?.rawHtml === true ? { rawHtml: html } : {}),
  };
}

/** The Markdown, which says itself if the end of the page is missing. */
function markdownOf(document: PageDocument, omissions: Omissions): string {
  const markdown = toMarkdown(document.body, omissions);
  return document.isCut ? `${markdown}\n\n(The page is too long: its end was left out)` : markdown;
}

/** Whether the requested links are all links of the page. */
function isOfAll({ onlyMainContent, picks }: ExtractOptions): boolean {
  return !onlyMainContent && (picks?.include.length ?? 0) === 0 && (picks?.exclude.length ?? 0) === 0;
}

/** The requested links: those of the parts that the caller chose, or those outside of the page's frame. */
function linksOf(
  document: PageDocument,
  { onlyMainContent, picks, url }: ExtractOptions,
  omissions: Omissions,
): string[] {
  const isChosen = picks !== undefined && picks.include.length > 0;
  return readLinks(document, url, { withoutFrame: onlyMainContent && !isChosen, omissions });
}

/** Reads what the caller requested of the whole page. */
function readPicked(document: PageDocument, picks: PagePicks, url: string) {
  return {
    ...(picks.attributes.length === 0 ? {} : { attributes: readAttributes(document, picks.attributes) }),
    ...(picks.images ? { images: readImages(document, url) } : {}),
  };
}

/** Removes the parts that the caller does not want. Returns whether the caller chose the parts to keep. */
function pick(document: PageDocument, { exclude, include }: PagePicks): boolean {
  leaveOut(document, exclude);
  if (include.length > 0) keepOnly(document, include);
  return include.length > 0;
}
