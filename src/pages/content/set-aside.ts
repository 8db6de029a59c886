// Lowers the verdicts on text that the page itself marks as secondary, by element, role, class name or wording. The fitted model
// has seen too few sites to know all such marks. If the marked text is more than half of the expected content, nothing but the
// footer of the site is lowered.

import { type PageElement, PageText, walk } from "../dom/node.ts";
import type { Block } from "./blocks.ts";
import { isInSiteFooter } from "./judged.ts";
import { isCredit, isPointer } from "./signs.ts";

/** The factor for verdicts on marked text. Blocks of which the model was sure are still kept. */
const DISCOUNT = 0.3;
/**
 * If marked text is more than this share of the expected text, the names mean something else (as on a page with recipes for
 * cookies). The footer of the site means what it says: some have more small print than the page has text.
 */
const SHARE_MAX = 0.5;

const TAGS = new Set(["footer", "nav", "aside", "dialog", "label"]);
/** Class names of parts that are secondary wherever they are. */
const NAMES = [
  "disclaimer disclaimers disclosure disclosures footnote footnotes legal",
  "related recommended recommendations recirc upsell crosssell recently",
  "cookie cookies consent gdpr newsletter subscribe tooltip popover captcha recaptcha",
  "login signin signup register password account wishlist favorite favorites",
  "author-box author-bio author-card author-info author-profile author-about authorbox authorbio about-author about-the-author authorBox authorBio authorInfo aboutAuthor",
  "facet facets filters refinement refinements sort sorting breadcrumb breadcrumbs crumbs",
].flatMap((line) => line.split(" "));
/** A name as a whole word, between separators or as a part of camel case. */
const NAMED = new RegExp(
  `(?:(?:^|[^a-zA-Z])(?:${NAMES.join("|")})|(?:${NAMES.map((name) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`).join("|")}))(?![a-z])`,
);
const NAME_CHARS_MAX = 300;
/** Names of custom elements that hold a link to another page, or ask the reader for something. */
const COMPONENT = /(?:^|-)(?:teasers?|related|recommendations?|promos?|newsletter|signup|advert|share|paywall)(?:-|$)/;
/** The limits of a form that asks the reader for something. */
const FORM_NODES_MAX = 100;
const FORM_CHARS_MAX = 600;
/** Class names that hide text visually. */
const UNSEEN = /(?:^|\s)(?:sr-only|visually-?hidden|screen-reader-text|u-hidden|is-hidden)(?:\s|$)/;
const RIGHTS = /©|all rights reserved/i;
const RIGHTS_CHARS_MAX = 200;
/** A run of letters with digits that has at least this length is an id or a hash, not a word. */
const CODE_CHARS_MIN = 20;
const CODES_CHARS_MIN = 60;
/** Links with which a page offers itself in another form. */
const PAGE_TOOL =
  /^(?:(?:download|save|export|view|open) (?:this page )?as (?:a )?(?:pdf|csv|excel|word|json|xml|ics)\b|print(?:er[- ]friendly)? (?:this )?(?:page|version)\b|als pdf (?:herunterladen|speichern)|(?:télécharger|descargar|baixar|scarica(?:re)?) (?:en|em|in) pdf\b)/i;
const TOOLS_CHARS_MAX = 120;
const TOOLS_LINK_SHARE = 0.8;
/**
 * The factor for buttons and repeated labels ("Quick view"). It is closer to one, as these make up most of the text on some
 * pages.
 */
const MILD_DISCOUNT = 0.65;
const LABEL_CHARS_MAX = 40;
const LABEL_REPEATS_MIN = 6;

/** The verdicts, lowered for secondary text. */
export function setAside(blocks: readonly Block[], verdicts: readonly number[]): readonly number[] {
  const known = new Map<PageElement, boolean>();
  const isAside = blocks.map(
    (block) =>
      isWithin(block.element, known) ||
      isPointer(block) ||
      isRights(block.text) ||
      isCodes(block.text) ||
      isPictureCredit(block) ||
      isPageTool(block),
  );
  let expected = 0;
  let aside = 0;
  for (const block of blocks) {
    const share = block.text.length * (verdicts[block.index] as number);
    expected += share;
    if (isAside[block.index] === true) aside += share;
  }
  const isMeant = aside <= expected * SHARE_MAX;
  const isLabel = labelsIn(blocks);
  return verdicts.map((verdict, index) => {
    const block = blocks[index] as Block;
    if (isPostNumber(block)) return 0;
    if (isAside[index] === true && (isMeant || isInSiteFooter(block))) return verdict * DISCOUNT;
    return isLabel(block) ? verdict * MILD_DISCOUNT : verdict;
  });
}

/** Tells which blocks are buttons or short texts that are repeated many times. */
function labelsIn(blocks: readonly Block[]): (block: Block) => boolean {
  const counts = new Map<string, number>();
  for (const { text } of blocks) if (text.length < LABEL_CHARS_MAX) counts.set(text, (counts.get(text) ?? 0) + 1);
  return ({ element, text }) => element.tag === "button" || (counts.get(text) ?? 0) >= LABEL_REPEATS_MIN;
}

function isWithin(element: PageElement, known: Map<PageElement, boolean>): boolean {
  const path: PageElement[] = [];
  let answer = false;
  for (let at: PageElement | null = element; at !== null && at.tag !== "body"; at = at.parentNode) {
    const found = known.get(at);
    answer = found ?? isNamedAside(at);
    path.push(at);
    if (answer || found !== undefined) break;
  }
  for (const at of path) known.set(at, answer);
  return answer;
}

/** Whether the page marks the element's content as secondary, by tag, role or name. */
export function isNamedAside(element: PageElement): boolean {
  const { tag, attributes, className, id } = element;
  const role = attributes["role"] ?? "";
  if (TAGS.has(tag) || role.includes("dialog") || attributes["aria-modal"] === "true") return true;
  if (tag === "form" && asksReader(element)) return true;
  if (tag.includes("-") && COMPONENT.test(tag.slice(0, NAME_CHARS_MAX))) return true;
  const name = `${className} ${id} ${role} ${attributes["data-testid"] ?? ""}`;
  return name.length > 3 && (UNSEEN.test(className) || NAMED.test(name.slice(0, NAME_CHARS_MAX)));
}

/** Whether a form asks the reader for something: it is small, as some pages are a single form, and has a control to press or fill. */
function asksReader(form: PageElement): boolean {
  let nodes = 0;
  let chars = 0;
  let hasControl = false;
  for (const node of walk(form)) {
    if (node instanceof PageText) chars += node.data.trim().length;
    // Some forums put every post into a form without a control.
    else if (isControl(node as PageElement)) hasControl = true;
    if (++nodes > FORM_NODES_MAX || chars > FORM_CHARS_MAX) return false;
  }
  return hasControl;
}

function isControl({ tag, attributes }: PageElement): boolean {
  return tag === "button" || (tag === "input" && attributes["type"] !== "hidden");
}

/** Whether a text states who has the rights. */
export function isRights(text: string): boolean {
  return text.length < RIGHTS_CHARS_MAX && RIGHTS.test(text);
}

/** Whether a caption names the photographer only. */
function isPictureCredit({ element, text }: Block): boolean {
  return (element.tag === "figcaption" || element.parentNode?.tag === "figcaption") && isCredit(text);
}

/** Whether a text is the number of a post, as a link to it: an address, whatever the verdict on it. */
function isPostNumber({ text, linkChars }: Block): boolean {
  return linkChars === text.length && /^#\d{1,7}$/.test(text);
}

/** Whether a text consists of links that begin with one to the same page in another form. */
function isPageTool({ text, linkChars }: Block): boolean {
  return text.length < TOOLS_CHARS_MAX && linkChars > text.length * TOOLS_LINK_SHARE && PAGE_TOOL.test(text);
}

function isCodes(text: string): boolean {
  if (text.length < CODES_CHARS_MIN) return false;
  let chars = 0;
  for (const word of text.split(" "))
    if (word.length >= CODE_CHARS_MIN && /\d/.test(word) && /[a-z]/i.test(word) && !word.includes("/"))
      chars += word.length;
  return chars > text.length * 0.5;
}
