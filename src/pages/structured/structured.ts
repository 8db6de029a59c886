// Reads a page's structured data: JSON-LD, microdata, the metadata of its head, and names with their values. The data are
// returned as written, without interpretation, and are limited in size and depth.

import type { PageDocument } from "../dom/parse.ts";
import { boundedText, type Entity, newRoom, type Room } from "./entity.ts";
import { readJsonLd } from "./json-ld.ts";
import { readMicrodata } from "./microdata.ts";
import { type NamedValue, readPairs } from "./pairs.ts";

export type { Entity, NamedValue };

/** The data that were found, in the order of the page. */
export interface StructuredData {
  readonly jsonLd: readonly Entity[];
  readonly microdata: readonly Entity[];
  /** Open Graph and other <meta> values by their names in lower case. If a name is repeated, the first one counts. */
  readonly meta: Readonly<Record<string, string>>;
  readonly pairs: readonly NamedValue[];
}

const META_MAX = 200;
const META_NAME_CHARS_MAX = 100;

/** Reads the structured data from a page's unmodified tree. */
export function structuredData(document: PageDocument, url: string): StructuredData {
  const room = newRoom();
  return {
    jsonLd: readJsonLd(document.structured, room),
    microdata: readMicrodata(document, url, room),
    meta: readMeta(document, room),
    pairs: readPairs(document, room),
  };
}

function readMeta(document: PageDocument, room: Room): Record<string, string> {
  const found = new Map<string, string>();
  for (const { tag, attributes } of document.head) {
    if (tag !== "meta" || attributes["itemprop"] !== undefined) continue;
    const name = (attributes["property"] ?? attributes["name"] ?? "").trim().toLowerCase();
    if (name === "" || name === "__proto__" || name.length > META_NAME_CHARS_MAX || found.has(name)) continue;
    const content = boundedText(attributes["content"] ?? "", room);
    if (content !== "" && found.size < META_MAX) found.set(name, content);
  }
  return Object.fromEntries(found);
}
