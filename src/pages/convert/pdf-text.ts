// Reads the text of a PDF. Runs in a thread of the PDF process, see pdf-process.ts.

import { unpacksToMore } from "./pdf-streams.ts";

/** The outcome; `too large` is a regular answer, not an error. */
export type PdfText = { readonly title: string; readonly text: string } | "too large";

const PAGES_MAX = 500;
const CHARS_MAX = 4 * 1024 * 1024;

/** Reads a PDF whose streams unpack to at most `bytesMax`. Throws if the PDF is damaged or protected. */
export async function readPdf(bytes: Uint8Array, bytesMax: number): Promise<PdfText> {
  if (unpacksToMore(bytes, bytesMax)) return "too large";
  const { getDocumentProxy, getMeta } = await import("unpdf");
  const document = await getDocumentProxy(bytes, { verbosity: 0 });
  const { info } = await getMeta(document).catch(() => ({ info: {} as Record<string, unknown> }));
  const pages: string[] = [];
  let charsLeft = CHARS_MAX;
  for (let number = 1; number <= Math.min(document.numPages, PAGES_MAX) && charsLeft > 0; number++) {
    const page = await document.getPage(number);
    const text = (await textOf(page, charsLeft)).trim();
    // Frees the resources of the page, which the next page does not need.
    page.cleanup();
    if (text === "") continue;
    pages.push(text);
    charsLeft -= text.length;
  }
  const title = typeof info["Title"] === "string" ? info["Title"] : "";
  return { title, text: pages.join("\n\n") };
}

/** A part of a page's text; parts that only mark structure have none. */
interface TextPart {
  readonly str?: string;
  readonly hasEOL?: boolean;
}

/**
 * Reads the text piece by piece and stops when there is enough, since the complete result would be many times larger than its
 * text.
 */
async function textOf(
  page: { streamTextContent(): ReadableStream<{ items: readonly TextPart[] }> },
  charsMax: number,
): Promise<string> {
  let text = "";
  for await (const { items } of page.streamTextContent()) {
    for (const { str, hasEOL } of items) text += `${str ?? ""}${hasEOL === true ? "\n" : ""}`;
    if (text.length >= charsMax) break;
  }
  return text.slice(0, charsMax);
}
