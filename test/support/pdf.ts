// Small PDFs, valid and hostile.

import { deflateSync } from "node:zlib";

/** A PDF of one page with the content `data`, the filters `filter` and further entries `page`, in the notation of a PDF. */
export function pdfOf(data: Uint8Array | string, filter = "", page = ""): Uint8Array<ArrayBuffer> {
  const content = Buffer.from(data as Uint8Array);
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>${page}>>`,
    `<</Length ${content.length}${filter}>>stream\n${content.toString("latin1")}\nendstream `,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
  ];
  const body = objects.map((object, index) => `${index + 1} 0 obj${object}endobj\n`).join("");
  return Uint8Array.from(Buffer.from(`%PDF-1.4\n${body}trailer<</Root 1 0 R>>\n%%EOF`, "latin1"));
}

/** The content of a page that shows a text. */
export const shown = (text: string) => `BT /F1 12 Tf 10 100 Td (${text}) Tj ET`;

/** The content of a page that shows texts at positions, each with its size. */
export const placed = (...texts: readonly (readonly [text: string, x: number, y: number, size?: number])[]) =>
  texts.map(([text, x, y, size = 10]) => `BT /F1 ${size} Tf ${x} ${y} Td (${text}) Tj ET`).join("\n");

/** Two kilobytes that two filters decompress to `megabytes` of spaces. */
export function twiceDeflated(megabytes: number): Buffer {
  return deflateSync(deflateSync(Buffer.alloc(megabytes * 1024 * 1024, 32), { level: 9 }), { level: 9 });
}

/** The entries of a page with a link over the text of `shown` from one position to another. */
export const linkedFrom = (...places: readonly (readonly [url: string, left: number, right: number])[]) =>
  `/Annots[${places
    .map(([url, left, right]) => `<</Type/Annot/Subtype/Link/Rect[${left} 96 ${right} 114]/A<</S/URI/URI(${url})>>>>`)
    .join("")}]`;
