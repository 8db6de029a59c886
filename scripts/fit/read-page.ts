// Reads a page for the fit and its checks as the product does before it chooses the main content.

import { fillFromState } from "../../src/pages/content/embedded.ts";
import { removeInvisible } from "../../src/pages/content/invisible.ts";
import { tidy } from "../../src/pages/content/tidy.ts";
import { createTrace } from "../../src/pages/content/trace.ts";
import { needsScript } from "../../src/pages/convert/needs-script.ts";
import { type PageDocument, parsePage } from "../../src/pages/dom/parse.ts";

/** The address with which pages are read; their own addresses are taken from the pages. */
export const ADDRESS = "http://127.0.0.1/page";

/** The tree of a page without what it does not show. */
export function readPage(html: string): PageDocument {
  const document = parsePage(html);
  const trace = createTrace(false);
  if (needsScript(document) !== undefined) fillFromState(document);
  removeInvisible(document, trace);
  tidy(document, ADDRESS, trace);
  return document;
}
