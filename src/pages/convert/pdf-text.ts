// Reads the text of a PDF as Markdown. Runs in a thread of the PDF process, see pdf-process.ts.

import { type PdfPiece, pdfLinesOf } from "./pdf-lines.ts";
import { type PdfPage, pdfMarkdown } from "./pdf-markdown.ts";
import { unpacksToMore } from "./pdf-streams.ts";

/** The outcome; `too large` is a regular answer, not an error. */
export type PdfText = PdfRead | "too large";

/** The text of a PDF. */
export interface PdfRead {
  readonly title: string;
  readonly text: string;
  /** What the limits left out, in a sentence that the text ends with too. */
  readonly omission?: string;
}

const PAGES_MAX = 500;
const CHARS_MAX = 4 * 1024 * 1024;
const PIECES_MAX = 400_000;
/** Links of one page that are read. */
const LINKS_MAX = 500;
/** An address is not longer than this. */
const LINK_CHARS_MAX = 4096;

/** Reads a PDF whose streams unpack to at most `bytesMax`. Throws if the PDF is damaged or protected. */
export async function readPdf(bytes: Uint8Array, bytesMax: number): Promise<PdfText> {
  if (unpacksToMore(bytes, bytesMax)) return "too large";
  const { getDocumentProxy, getMeta } = await import("unpdf");
  const document = await getDocumentProxy(bytes, { verbosity: 0 });
  const { info } = await getMeta(document).catch(() => ({ info: {} as Record<string, unknown> }));
  const pages: PdfPage[] = [];
  const allowance = { chars: CHARS_MAX, pieces: PIECES_MAX };
  let number = 0;
  while (number < Math.min(document.numPages, PAGES_MAX) && allowance.chars > 0 && allowance.pieces > 0) {
    const page = await document.getPage(++number);
    const pieces = await piecesOf(page as unknown as Page, allowance);
    const [, bottom = 0, , top = 0] = page.view;
    pages.push({ number, bottom, height: Math.max(1, top - bottom), lines: pdfLinesOf(pieces) });
    // Frees the resources of the page, which the next page does not need.
    page.cleanup();
  }
  const title = typeof info["Title"] === "string" ? info["Title"] : "";
  const omission = leftOut(number, document.numPages, allowance);
  if (omission === undefined) return { title, text: pdfMarkdown(pages) };
  return { title, text: `${pdfMarkdown(pages)}\n\n(${omission})`, omission };
}

/** Tells what the limits left out. */
function leftOut(
  read: number,
  all: number,
  left: { readonly chars: number; readonly pieces: number },
): string | undefined {
  if (read < all) return `${all - read} of ${all} pages were left out: the PDF is too long.`;
  if (left.chars > 0 && left.pieces > 0) return undefined;
  return "The rest of the last page was left out: the PDF is too long.";
}

/** A part of a page's text; parts that only mark structure have none. */
interface TextPart {
  readonly str?: string;
  readonly transform?: readonly number[];
  readonly width?: number;
  readonly fontName?: string;
}

/** What is needed of a page. */
interface Page {
  streamTextContent(): ReadableStream<{
    readonly items: readonly TextPart[];
    readonly styles: Readonly<Record<string, { readonly fontFamily?: string }>>;
  }>;
  getAnnotations(): Promise<readonly { readonly subtype?: string; readonly url?: string; readonly rect?: number[] }[]>;
}

interface Link {
  readonly url: string;
  readonly rect: readonly [number, number, number, number];
}

/**
 * Reads the text piece by piece and stops when there is enough, since the complete result would be many times larger than its
 * text.
 */
async function piecesOf(page: Page, allowance: { chars: number; pieces: number }): Promise<PdfPiece[]> {
  const links = await linksOf(page);
  const pieces: PdfPiece[] = [];
  const codeFonts = new Set<string>();
  for await (const { items, styles } of page.streamTextContent()) {
    for (const [name, { fontFamily }] of Object.entries(styles)) if (fontFamily === "monospace") codeFonts.add(name);
    for (const { str = "", transform = [], width = 0, fontName: font = "" } of items) {
      // Gaps are known by the positions.
      if (str.trim() === "" || allowance.pieces <= 0 || allowance.chars <= 0) continue;
      const [, , slant = 0, height = 0, x = 0, y = 0] = transform;
      const text = str.slice(0, allowance.chars);
      allowance.chars -= text.length;
      allowance.pieces--;
      const size = Math.hypot(slant, height) || 1;
      pieces.push(...parted({ text, x, y, width, size, font, isCode: codeFonts.has(font) }, links));
    }
    if (allowance.chars <= 0 || allowance.pieces <= 0) break;
  }
  return pieces;
}

async function linksOf(page: Page): Promise<Link[]> {
  const found = await page.getAnnotations().catch(() => []);
  return found.slice(0, LINKS_MAX).flatMap(({ subtype, url = "", rect }) => {
    const isLink = subtype === "Link" && /^https?:/.test(url) && url.length <= LINK_CHARS_MAX && rect?.length === 4;
    return isLink ? [{ url, rect: rect as unknown as Link["rect"] }] : [];
  });
}

/** Cuts a piece where a link begins or ends, between words. */
function parted(piece: PdfPiece, links: readonly Link[]): PdfPiece[] {
  const { text, x, y, width, size } = piece;
  const link = links.find(({ rect: [left, bottom, right, top] }) => {
    const middle = y + size * 0.3;
    return middle > bottom && middle < top && Math.min(right, x + width) - Math.max(left, x) > size * 0.2;
  });
  if (link === undefined) return [piece];
  const [left, , right] = link.rect;
  // Edges are estimates: the link may end within a word that is left over, which must not be cut by it again.
  const others = links.filter((one) => one !== link);
  const at = (edge: number) => Math.round(Math.min(1, Math.max(0, (edge - x) / Math.max(1, width))) * text.length);
  const [start, end] = [wordEdge(text, at(left)), wordEdge(text, at(right))];
  const cut = (from: number, to: number, url?: string): PdfPiece[] => {
    if (text.slice(from, to).trim() === "") return [];
    const share = width / text.length;
    return [{ ...piece, text: text.slice(from, to), x: x + from * share, width: (to - from) * share, link: url }];
  };
  return [
    ...cut(0, start).flatMap((rest) => parted(rest, others)),
    ...cut(start, end, link.url),
    ...cut(end, text.length).flatMap((rest) => parted(rest, others)),
  ];
}

/** The nearest position between two words. */
function wordEdge(text: string, at: number): number {
  for (let distance = 0; distance <= text.length; distance++)
    for (const place of [at - distance, at + distance]) {
      if (place === 0 || place === text.length) return place;
      if (place > 0 && place < text.length && (text[place] === " " || text[place - 1] === " ")) return place;
    }
  return at;
}
