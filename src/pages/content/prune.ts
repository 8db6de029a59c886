// Removes from the tree what is not main content: text that was not kept, and elements that hold nothing that was.

import { elementsOf, nodesOf, type PageElement, PageText, walk } from "../dom/node.ts";
import { isContentFrame } from "../dom/parts.ts";
import type { Block } from "./blocks.ts";
import { type JudgedPage, shareOfKept } from "./judged.ts";
import { isCredit } from "./signs.ts";
import type { Trace } from "./trace.ts";

/** Removes all text that was not kept, and then every element that holds neither kept text nor an image that belongs to it. */
export function prune(
  {
    document,
    blocks,
    kept,
    unjudged,
  }: Pick<JudgedPage, "document" | "blocks"> & { kept: ReadonlySet<Block>; unjudged: readonly PageText[] },
  trace: Trace,
): void {
  const keptNodes = new Set<PageText>(unjudged);
  for (const block of kept) for (const node of block.nodes) keptNodes.add(node);
  // The text around a picture tells whether it belongs to the content, not the name of its photographer.
  const share = shareOfKept(
    blocks.filter((block) => !isCredit(block.text)),
    kept,
  );
  const holding = new Set<PageElement>();
  const hold = (from: PageElement | null) => {
    for (let element = from; element !== null && !holding.has(element); element = element.parentNode)
      holding.add(element);
  };
  for (const node of keptNodes) hold(node.parentNode);
  for (const element of elementsOf(document.body))
    if (isMedia(element) && belongs(element, share)) {
      holding.add(element);
      hold(element.parentNode);
    }
  for (const node of nodesOf(document.body)) {
    if (node.parentNode === null) continue;
    if (node instanceof PageText) {
      if (node.data.trim() !== "" && !keptNodes.has(node)) node.remove();
    } else if (!holding.has(node as PageElement) && !isSpacer(node as PageElement)) {
      const element = node as PageElement;
      // Syntax highlighters wrap spaces in elements of their own, so these must stay.
      if (isBlank(element)) element.unwrap();
      else trace.remove(element, "main-content");
    }
  }
}

/** Whether an image belongs to the content: it does if the nearest text around it does. */
function belongs(media: PageElement, share: ReturnType<typeof shareOfKept>): boolean {
  if (isAvatar(media) || (media.parentNode !== null && isAvatar(media.parentNode))) return false;
  for (let element = media.parentNode; element !== null; element = element.parentNode) {
    if (element.tag === "nav" || element.tag === "footer") return false;
    const around = share(element);
    if (around !== undefined) return around.kept >= 0.6;
  }
  return false;
}

/** Whether an element is the portrait of a person beside their text. */
function isAvatar({ className }: PageElement): boolean {
  return className !== "" && /(?:^|[\s_-])(?:gr)?avatar(?:[\s_-]|$)/i.test(className);
}

function isMedia(element: PageElement): boolean {
  return /^(?:img|video|audio|math)$/.test(element.tag) || isContentFrame(element);
}

/** Inline elements. Around white space or a line break they only keep words apart. */
const INLINE = new Set(
  "a b code strong i em u s del ins small big font span mark cite q sub sup label abbr time var kbd samp tt".split(" "),
);
/** An element with more nodes than this is not examined and counts as not blank. */
const BLANK_NODES_MAX = 50;

/** Whether an element holds white space or line breaks in inline elements, and nothing else. */
function isBlank(element: PageElement): boolean {
  if (element.firstChild === null || !INLINE.has(element.tag)) return false;
  let parts = false;
  let nodes = 0;
  for (const node of walk(element)) {
    if (++nodes > BLANK_NODES_MAX) return false;
    if (node instanceof PageText) {
      if (node.data.trim() !== "") return false;
      parts ||= node.data !== "";
    } else if ((node as PageElement).tag === "br") parts = true;
    else if (!INLINE.has((node as PageElement).tag) && (node as PageElement).tag !== "wbr") return false;
  }
  return parts;
}

/** Whether an element has a meaning even if it is empty. */
function isSpacer(element: PageElement): boolean {
  return (
    element.tag === "br" ||
    element.tag === "hr" ||
    element.tag === "wbr" ||
    element.tag === "td" ||
    element.tag === "th" ||
    element.tag === "input"
  );
}
