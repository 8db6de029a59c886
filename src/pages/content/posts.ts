// Keeps the posts of a thread whole, and drops what is said of their authors beside the name.

import { closest, type PageElement } from "../dom/node.ts";
import type { Block } from "./blocks.ts";
import { isThreadPage, type JudgedPage, sumChars } from "./judged.ts";

/** Class names of the text of a post. */
const BODY =
  /(?:^|[\s_-])(?:message-body|post-?body|post_body|comment-content|post-content|post-text|entry__post|msg_text|cooked|bbWrapper|usertext-body|reply-body)(?:[\s_-]|$)/i;
/** If the mean verdict on a post is lower, the fitted model is sure that it is none. */
const VERDICT_MIN = 0.15;

/** Class names of what a forum adds to a link in a post: the title and the first lines of the page it leads to. */
const PREVIEW =
  /(?:^|[\s_-])(?:unfurl|onebox|link-?preview|embed|embedded|attachment|attachments|signature|sig|reactions?)(?:[\s_-]|$)/i;

/** Keeps the posts of a page that is surely a thread whole: half of an answer may say something else. */
export function keepPosts({ blocks, unadjusted, kept, kind }: JudgedPage): void {
  if (kind() !== "forum") return;
  const counts = new Map<string, number>();
  for (const { text } of blocks) counts.set(text, (counts.get(text) ?? 0) + 1);
  for (const [body, own] of blocksWithin(blocks, isBody)) {
    const expected = own.reduce((sum, { index, text }) => sum + (unadjusted[index] as number) * text.length, 0);
    if (expected < sumChars(own) * VERDICT_MIN) continue;
    // What several posts say is a label of the forum, or stands in another post.
    for (const block of own) if (counts.get(block.text) === 1 && !isBesideText(block, body)) kept.add(block);
  }
}

/** Whether a block in the body of a post is none of its text: a button, or the preview of a link. */
function isBesideText({ element }: Block, body: PageElement): boolean {
  if (element.tag === "button") return true;
  for (let at: PageElement | null = element; at !== null && at !== body; at = at.parentNode)
    if (at.className !== "" && PREVIEW.test(at.className)) return true;
  return false;
}

function isBody({ className, attributes }: PageElement): boolean {
  return (className !== "" && BODY.test(className)) || attributes["itemprop"] === "text";
}

/** Class names of the figures of an author beside a post: since when and from where, how many posts and points. */
const FIGURES =
  /(?:^|\s)(?:message-userExtras|postprofile|cAuthorPane_info|ipsEntry__author-column|user-?stats|author-?stats|poster-?info|post-?author-?info)(?:\s|$)/i;
const NAME = /(?:^|[\s_-])(?:name|username(?:-coloured)?|author|poster)(?:[\s_-]|$)/i;
const NAME_LEVELS = 3;

/** Drops the figures of the authors of a thread. */
export function dropAuthorFigures(page: JudgedPage): void {
  const { kept } = page;
  if (!isThreadPage(page)) return;
  const isFigures = ({ className }: PageElement) => className !== "" && FIGURES.test(className);
  for (const [figures, own] of blocksWithin(kept, isFigures)) {
    // The text of a post that a site names so is no figure.
    if (own.some(({ text }) => text.length > FIGURE_CHARS_MAX)) continue;
    for (const block of own) if (!isName(block, figures)) kept.delete(block);
  }
}

const FIGURE_CHARS_MAX = 120;

/** Whether the block is the name of the author within their figures. */
function isName({ element, nodes }: Block, figures: PageElement): boolean {
  let at: PageElement | null = nodes[0]?.parentNode ?? element;
  for (let level = 0; at !== null && at !== figures && level < NAME_LEVELS; level++, at = at.parentNode)
    if (NAME.test(at.className) || at.attributes["itemprop"] === "name" || /^h[1-6]$/.test(at.tag)) return true;
  return false;
}

/** The blocks within certain elements, by the innermost of these. */
function blocksWithin(
  blocks: Iterable<Block>,
  isMeant: (element: PageElement) => boolean,
): ReadonlyMap<PageElement, Block[]> {
  const answers = new Map<PageElement, boolean>();
  const remembered = (element: PageElement) => {
    const known = answers.get(element);
    if (known !== undefined) return known;
    const answer = isMeant(element);
    answers.set(element, answer);
    return answer;
  };
  const found = new Map<PageElement, Block[]>();
  for (const block of blocks) {
    const around = remembered(block.element) ? block.element : closest(block.element, remembered);
    if (around === undefined) continue;
    const own = found.get(around);
    if (own === undefined) found.set(around, [block]);
    else own.push(block);
  }
  return found;
}
