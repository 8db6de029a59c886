// Answers requests for pages of the manual and the files that they load.

import { pathOf } from "../../http/path.ts";
import type { Json } from "../schemas.ts";
import { assetResponse, pageResponse } from "./layout.ts";
import { missingPage, sitePage } from "./site.ts";

const ASSETS = "/docs/assets/";

/** The page at the request's address; a not-found page if there is none. */
export function manualResponse(request: Request, document: Json, origin: string): Response {
  const path = pathOf(request.url).replace(/(?<=[^/])\/+$|(?<=^\/)\/+$/, "");
  if (path.startsWith(ASSETS)) {
    const asset = assetResponse(request, path.slice(ASSETS.length));
    if (asset !== undefined) return asset;
  }
  const html = kept(path, origin, () => sitePage(path, document, origin));
  if (html === undefined) return pageResponse(request, missingPage(path, document), 404);
  return pageResponse(request, html);
}

/** Rendered pages for the address that was used last, which is nearly always the same. */
const made = { origin: "", pages: new Map<string, string>() };

function kept(path: string, origin: string, make: () => string | undefined): string | undefined {
  if (made.origin !== origin) {
    made.origin = origin;
    made.pages.clear();
  }
  const known = made.pages.get(path);
  if (known !== undefined) return known;
  const html = make();
  // Only existing pages, so that nobody can fill the cache.
  if (html !== undefined) made.pages.set(path, html);
  return html;
}
