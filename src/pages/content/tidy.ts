// Prepares a parsed tree: opens shadow roots, removes elements that are never content, resolves lazy images, and makes addresses
// absolute. This runs before anything is chosen, with or without main-content extraction.

import { elementsOf, PageElement, type PageNode, PageText } from "../dom/node.ts";
import type { Omissions } from "../dom/omissions.ts";
import type { PageDocument } from "../dom/parse.ts";
import { plainListing } from "../markdown/listings.ts";
import { plainTextOf } from "../words/plain-text.ts";
import { dropListingSigns, isCopyButton } from "./listing-signs.ts";
import { type LabelsById, labelsById, sayRating, showChoices } from "./spoken.ts";
import type { Trace } from "./trace.ts";

/** Elements that are never content. */
const NO_CONTENT = new Set([
  "svg",
  "template",
  "select",
  "textarea",
  "datalist",
  "canvas",
  "map",
  "area",
  "dialog-backdrop",
  "portal",
]);
const LAZY_SOURCES = [
  "data-src",
  "data-lazy-src",
  "data-original",
  "data-lazy",
  "data-url",
  "data-hi-res-src",
  "data-image",
];
const LAZY_SETS = ["data-srcset", "data-lazy-srcset", "srcset"];
const SCRIPT_NOTICE_CHARS_MAX = 600;
/** Addresses that are data or programs. */
const OTHER_SCHEME = /^\s*(?:data|javascript|blob):/i;
const WEB_SCHEMES = /^(?:https?|mailto|tel):/i;

/** Tidies a tree in place. `url` is the address of the page; a <base> element is taken into account. */
export function tidy(
  document: PageDocument,
  url: string,
  trace: Trace,
  {
    keepsDataImages = false,
    omissions,
  }: { readonly keepsDataImages?: boolean | undefined; readonly omissions?: Omissions } = {},
): void {
  const base = baseOf(document, url);
  let known: LabelsById | undefined;
  const labels = () => {
    known ??= labelsById(document.body);
    return known;
  };
  for (const element of elementsOf(document.body)) {
    if (element.parentNode === null) continue;
    if (element.tag === "template" && element.attributes["shadowrootmode"] !== undefined) element.unwrap();
    else if (element.tag === "noscript") tidyNoscript(element, base);
    else if (element.tag === "select" && showChoices(element, labels)) continue;
    else if (element.tag === "frame") linkFrame(element, base);
    else if (NO_CONTENT.has(element.tag) || isCopyButton(element)) trace.remove(element, "not-content");
    else if (element.tag === "img") tidyImage(element, base, keepsDataImages);
    else if (element.tag === "a") tidyLink(element, { base, url, omissions });
    else if (/^h[1-6]$/.test(element.tag)) closeHeading(element);
    else if (element.tag === "picture" || element.tag === "video" || element.tag === "audio") tidyMedia(element, base);
    else if (element.tag === "source" || element.tag === "track") element.remove();
    else if (element.tag === "div") dropListingSigns(element);
    else if (element.tag === "pre" || element.tag === "table") plainListing(element);
    // Their text is what the bar or the form shows. As elements of their own they would part the sentence.
    else if (element.tag === "meter" || element.tag === "progress" || element.tag === "output") element.unwrap();
    else if (element.attributes["aria-label"] !== undefined && sayRating(element)) continue;
    else if (element.attributes["src"] !== undefined)
      element.attributes["src"] = absolute(element.attributes["src"], base) ?? "";
  }
}

/** Replaces a part of a frameset by a link to its page. */
function linkFrame(frame: PageElement, base: string): void {
  const { attributes } = frame;
  const address = absolute(attributes["src"] ?? "", base);
  if (address !== undefined) {
    const link = new PageElement("a", { href: address });
    link.appendChild(new PageText(attributes["title"]?.trim() || attributes["name"]?.trim() || address));
    const line = new PageElement("p");
    line.appendChild(link);
    frame.parentNode?.insertBefore(line, frame);
  }
  frame.remove();
}

/** The address against which relative addresses are resolved. */
export function baseOf(document: PageDocument, url: string): string {
  const href = document.head.find((element) => element.tag === "base" && element.attributes["href"] !== undefined)
    ?.attributes["href"];
  return href !== undefined && URL.canParse(href, url) ? new URL(href, url).href : url;
}

/**
 * Longer addresses are dropped: none leads anywhere, and a long base before many short links could multiply the page's size by a
 * thousand.
 */
export const LINK_CHARS_MAX = 4096;

/** Resolves an address; undefined if it does not lead to the web. */
export function absolute(address: string, base: string): string | undefined {
  const trimmed = address.trim();
  if (trimmed === "" || !URL.canParse(trimmed, base)) return undefined;
  const { href } = new URL(trimmed, base);
  return WEB_SCHEMES.test(href) && href.length <= LINK_CHARS_MAX ? href : undefined;
}

/** Elements that cannot be part of a heading, so that a heading which holds one was never closed. */
const UNDER_HEADING = /^(?:p|ul|ol|dl|table|h[1-6]|blockquote|pre|section|article|figure|hr|form)$/;
const HEADING_CHARS_MAX = 200;

/** Ends an unclosed heading before the paragraphs that follow it. */
function closeHeading(heading: PageElement): void {
  let before = "";
  let first: PageNode | null = heading.firstChild;
  for (; first !== null; first = first.nextSibling) {
    const isUnder = !(first instanceof PageText) && UNDER_HEADING.test((first as PageElement).tag);
    if (isUnder && before.trim() !== "") break;
    before += first.textContent;
  }
  if (first === null) return;
  const isShort = heading.textContent.length - before.length <= HEADING_CHARS_MAX;
  const blocks = heading.children.filter(({ tag }) => UNDER_HEADING.test(tag));
  // Some pages put a line below the title into the heading.
  if (isShort && blocks.length === 1 && blocks[0]?.tag === "p" && heading.lastElementChild === blocks[0]) return;
  const after = heading.nextSibling;
  for (let node: PageNode | null = first; node !== null; ) {
    const next: PageNode | null = node.nextSibling;
    heading.parentNode?.insertBefore(node, after);
    node = next;
  }
}

/** The text of the anchors by which headings and terms can be linked to. */
const PERMALINK = /^[\s¶#§🔗⚓\u200b]*$/u;
const PERMALINK_SIGN = /^\s*[¶§🔗⚓]\s*$/u;
/** Parameters for analytics, without which the page is the same. */
const TRACKING = /^(?:utm_[a-z]+|fbclid|gclid|dclid|msclkid|mc_[ce]id|igshid|yclid)$/i;

function tidyLink(
  link: PageElement,
  { base, url, omissions }: { base: string; url: string; omissions: Omissions | undefined },
): void {
  const isHeading = /^h[1-6]$/.test(link.parentNode?.tag ?? "");
  const href = link.attributes["href"];
  const isPermalink =
    (isHeading && PERMALINK.test(link.textContent)) ||
    (href?.includes("#") === true && PERMALINK_SIGN.test(link.textContent));
  if (isPermalink && link.getElementsByTagName("img").length === 0) {
    link.remove();
    return;
  }
  if (href === undefined) return;
  const resolved = absolute(href, base);
  if (resolved === undefined && href.length > LINK_CHARS_MAX && !OTHER_SCHEME.test(href)) omissions?.add("addresses");
  const isOfHeading =
    isHeading &&
    (href.startsWith("#") || isOnPage(resolved, url)) &&
    link.textContent.trim() === link.parentNode?.textContent.trim();
  // A heading that links to itself needs no link.
  if (resolved === undefined || isOfHeading) delete link.attributes["href"];
  else link.attributes["href"] = withoutTracking(resolved);
}

/** Whether an address is a position on the page itself, written as a full address. */
function isOnPage(address: string | undefined, url: string): boolean {
  const at = address?.indexOf("#") ?? -1;
  return at > 0 && address?.slice(0, at) === url.replace(/#.*/s, "");
}

function withoutTracking(address: string): string {
  if (!/[?&](?:utm_|[a-z]+clid=|mc_|igshid)/i.test(address)) return address;
  const url = new URL(address);
  // The parameters are cut out of the text, so that the rest of the address keeps its spelling.
  const kept = url.search
    .slice(1)
    .split("&")
    .filter((pair) => !TRACKING.test(pair.replace(/=.*/s, "")));
  url.search = kept.join("&");
  return url.href;
}

/** Moves an address that a player or image has only in its sources to the attribute where readers of the tree expect it. */
function tidyMedia(media: PageElement, base: string): void {
  const sources = media.getElementsByTagName("source");
  if (media.tag === "picture") {
    const image = media.getElementsByTagName("img")[0];
    const set = sources.map(({ attributes }) => attributes["srcset"] ?? attributes["data-srcset"]).find((one) => one);
    if (image !== undefined && set !== undefined) image.attributes["srcset"] ??= set;
    return;
  }
  const own = media.attributes["src"] ?? sources.map(({ attributes }) => attributes["src"]).find((one) => one);
  const address = absolute(own ?? "", base);
  // Browsers that can play the media do not show this text, but on some pages only this text names the media.
  const instead = plainTextOf(media);
  if (address === undefined) {
    delete media.attributes["src"];
    if (instead.length > PLAYER_NOTICE_CHARS_MAX || !PLAYER_NOTICE.test(instead)) media.unwrap();
    else for (const child of media.childNodes) child.remove();
    return;
  }
  media.attributes["src"] = address;
  if (instead !== "" && instead.length <= PLAYER_NAME_CHARS_MAX && !PLAYER_NOTICE.test(instead))
    media.attributes["title"] ??= instead;
  for (const child of media.childNodes) child.remove();
}

const PLAYER_NAME_CHARS_MAX = 80;
const PLAYER_NOTICE_CHARS_MAX = 200;
const PLAYER_NOTICE = /browser|navigateur|navegador|support|html\s?5|javascript|download/i;

/** Image files that only take up space. */
const SPACER =
  /(?:^|[/_-])(?:spacer|clear|blank|pixel|transparent|trans|1x1|dot|shim|placeholder)(?:[_-]?\d+x?\d*)?\.(?:gif|png|svg)(?:[?#]|$)/i;

/** Image files of icons. */
const ICON = /\.svg(?:[?#]|$)|[/_-]icons?[/_.-]/i;

/** An image that is embedded in the page as a data URL. */
const DATA_IMAGE = /^\s*data:image\/[\w.+-]+;base64,[\w+/=\s]+$/i;

/** Finds the best address of an image. Lazy loaders keep it in attributes other than `src`. */
function tidyImage(image: PageElement, base: string, keepsData: boolean): void {
  const { attributes } = image;
  const own = attributes["src"] ?? "";
  const isPlaceholder =
    own === "" ||
    own.startsWith("data:") ||
    /blank|placeholder|spacer|pixel|lazy/i.test(own.slice(own.lastIndexOf("/") + 1));
  const lazy = LAZY_SOURCES.map((name) => attributes[name]).find(
    (value) => value !== undefined && !value.startsWith("data:"),
  );
  const set = LAZY_SETS.map((name) => attributes[name]).find((value) => value !== undefined);
  const best = isPlaceholder ? (lazy ?? largestOf(set) ?? own) : own;
  const resolved = keepsData && DATA_IMAGE.test(best) ? best.trim() : absolute(best, base);
  const isIcon = attributes["alt"] === "" && resolved !== undefined && ICON.test(resolved);
  if (resolved === undefined || isIcon || isTiny(attributes) || SPACER.test(resolved)) image.remove();
  else attributes["src"] = resolved;
}

/** An address in a `srcset`, with its size. It begins a word or follows a comma: none within a word would end elsewhere. */
const CANDIDATE = /(?<![^\s,])([^\s,][^\s]*[^\s,]|[^\s,])(?:\s+([\d.]+)[wx])?\s*(?:,|$)/g;

/** The widest candidate of a `srcset`. */
export function largestOf(set: string | undefined): string | undefined {
  let best: string | undefined;
  let bestSize = -1;
  for (const match of (set ?? "").matchAll(CANDIDATE)) {
    const size = Number(match[2] ?? 1);
    if (match[1] !== undefined && !match[1].startsWith("data:") && size > bestSize) {
      best = match[1];
      bestSize = size;
    }
  }
  return best;
}

/** Whether an image is so small that it is a tracking pixel or an icon. */
function isTiny(attributes: Readonly<Record<string, string>>): boolean {
  return [attributes["width"], attributes["height"]].some(
    (value) => value !== undefined && /^\d+(?:px)?$/.test(value) && Number.parseInt(value, 10) <= 24,
  );
}

/** Drops a <noscript> that repeats a lazy image or only says that scripts are needed; others are content. */
function tidyNoscript(element: PageElement, base: string): void {
  const before = previousElement(element);
  const image = element.getElementsByTagName("img")[0];
  if (image !== undefined && before?.tag === "img" && element.textContent.trim() === "") {
    const source = absolute(image.attributes["src"] ?? "", base);
    if (source !== undefined) before.attributes["src"] = source;
    // The image before it has already been tidied, so it gets the absolute address.
    element.remove();
    return;
  }
  const text = element.textContent;
  // A <noscript> without text directly below the body is a visit counter.
  if (text.trim() === "" && element.parentNode?.tag === "body") {
    element.remove();
    return;
  }
  // Some forums serve whole threads in a <noscript> that ends with a hint about scripts, so only a short one is taken for such a
  // hint.
  if (text.length < SCRIPT_NOTICE_CHARS_MAX && /javascript|enable scripts|browser/i.test(text)) element.remove();
  else element.unwrap();
}

function previousElement(element: PageElement): PageElement | undefined {
  let node: PageNode | null = element.previousSibling;
  while (node instanceof PageText && node.data.trim() === "") node = node.previousSibling;
  return node !== null && !(node instanceof PageText) ? (node as PageElement) : undefined;
}
