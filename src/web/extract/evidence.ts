// Writes a page's structured data as text, which the model sees beside the page and which is searched for quotes.

import type { Entity, StructuredData } from "../../pages/structured/structured.ts";
import { isFrame } from "./things.ts";

/**
 * One line of JSON for each entity and for the metadata, each after a label; empty if there is no structured data. Lines beyond
 * `charsMax` are left out, starting with those about the whole site.
 */
export function evidenceText(structured: StructuredData, charsMax = Number.POSITIVE_INFINITY): string {
  const { jsonLd, microdata, meta } = structured;
  const line = (label: string) => (entity: Entity) => ({ text: `${label}: ${JSON.stringify(entity)}`, entity });
  const things = [...jsonLd.map(line("JSON-LD")), ...microdata.map(line("Microdata"))];
  const lines = [
    ...things.filter(({ entity }) => !isFrame(entity)),
    ...(Object.keys(meta).length === 0 ? [] : [line("Metadata")(meta)]),
    ...things.filter(({ entity }) => isFrame(entity)),
  ];
  let left = charsMax;
  const kept = lines.filter(({ text }) => {
    if (text.length + 1 > left) return false;
    left -= text.length + 1;
    return true;
  });
  return kept.map(({ text }) => text).join("\n");
}
