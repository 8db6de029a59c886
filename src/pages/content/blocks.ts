// Splits a page into text blocks: runs of inline text that a browser would lay out as one paragraph, heading, list item or
// cell. Main content is chosen block by block.

import { type PageElement, type PageNode, PageText } from "../dom/node.ts";

/** One block of text. */
export interface Block {
  /** Position in the page. */
  readonly index: number;
  /** The nearest block-level element around it. */
  readonly element: PageElement;
  readonly nodes: readonly PageText[];
  /** White space is collapsed and trimmed; never empty. */
  readonly text: string;
  /** Characters of `text` inside links. */
  readonly linkChars: number;
  readonly linkCount: number;
  /** Characters inside bold, strong or heading-like inline markup. */
  readonly boldChars: number;
  /** Characters inside buttons and labels. */
  readonly controlChars: number;
}

/** Elements whose start and end break a line. */
export const BLOCK_TAGS: ReadonlySet<string> = new Set(
  (
    "address article aside blockquote body canvas caption center dd details dialog dir div dl dt fieldset figcaption figure " +
    "footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr iframe legend li main menu nav noscript ol optgroup option p pre " +
    "search section summary table tbody td template tfoot th thead tr ul video audio"
  ).split(" "),
);
/** Elements whose text is never part of the page's text. */
const SILENT_TAGS = new Set(["svg", "math-hidden", "textarea", "select", "datalist", "template", "canvas", "iframe"]);
/** Inline elements that are units of their own, so that they end the text before them. */
const BREAKING_TAGS = new Set(["button", "label"]);

/** Maximum number of blocks that are examined. Later text is kept unexamined. */
const BLOCKS_MAX = 10_000;

interface Run {
  nodes: PageText[];
  pieces: string[];
  linkChars: number;
  linkCount: number;
  boldChars: number;
  controlChars: number;
  lastLink: PageElement | undefined;
}

/** Splits a tree into its blocks, in document order. The text after the last block that is examined is added to `rest`. */
export function cutBlocks(body: PageElement, rest: PageText[] = []): Block[] {
  const blocks: Block[] = [];
  let run = emptyRun();
  let runElement = body;

  const flush = () => {
    // The white space between empty elements would be joined again for each of them.
    if (run.nodes.length === 0) return;
    const text = run.pieces.join("").replace(/\s+/g, " ").trim();
    if (text !== "" && blocks.length >= BLOCKS_MAX) rest.push(...run.nodes);
    else if (text !== "")
      blocks.push({
        index: blocks.length,
        element: runElement,
        nodes: run.nodes,
        text,
        linkChars: Math.min(run.linkChars, text.length),
        linkCount: run.linkCount,
        boldChars: Math.min(run.boldChars, text.length),
        controlChars: Math.min(run.controlChars, text.length),
      });
    run = emptyRun();
  };

  const visit = (element: PageElement, block: PageElement, inline: Inline) => {
    let breaks = 0;
    for (let child: PageNode | null = element.firstChild; child !== null; child = child.nextSibling) {
      if (child instanceof PageText) {
        if (child.data.trim() === "") {
          run.pieces.push(" ");
          continue;
        }
        breaks = 0;
        addText(run, child, inline);
        runElement = block;
        continue;
      }
      const inner = child as PageElement;
      if (SILENT_TAGS.has(inner.tag)) continue;
      if (inner.tag === "br") {
        run.pieces.push(" ");
        // Two line breaks in a row separate paragraphs.
        if (++breaks === 2) flush();
        continue;
      }
      const isBlock = BLOCK_TAGS.has(inner.tag);
      const parts = isBlock || BREAKING_TAGS.has(inner.tag);
      if (parts) flush();
      if (inner.firstChild !== null) {
        breaks = 0;
        visit(inner, parts ? inner : block, nextInline(inline, inner));
      }
      if (parts) flush();
    }
  };
  visit(body, body, { link: undefined, bold: false, control: false });
  flush();
  return blocks;
}

interface Inline {
  readonly link: PageElement | undefined;
  readonly bold: boolean;
  readonly control: boolean;
}

function nextInline(inline: Inline, element: PageElement): Inline {
  switch (element.tag) {
    case "a":
      return { ...inline, link: element };
    case "b":
    case "strong":
      return { ...inline, bold: true };
    case "button":
    case "label":
    case "option":
      return { ...inline, control: true };
    default:
      return inline;
  }
}

function addText(run: Run, node: PageText, inline: Inline): void {
  const length = node.data.trim().length;
  run.nodes.push(node);
  run.pieces.push(node.data);
  if (inline.link !== undefined) {
    run.linkChars += length;
    if (run.lastLink !== inline.link) run.linkCount++;
    run.lastLink = inline.link;
  }
  if (inline.bold) run.boldChars += length;
  if (inline.control) run.controlChars += length;
}

function emptyRun(): Run {
  return { nodes: [], pieces: [], linkChars: 0, linkCount: 0, boldChars: 0, controlChars: 0, lastLink: undefined };
}
