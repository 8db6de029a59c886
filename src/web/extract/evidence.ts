// A page's structured data as text: shown to the model beside the page, and searched for quotes.

import type { Entity, StructuredData } from "../../pages/structured/structured.ts";
import { isFrame } from "./things.ts";

/**
 * One line of JSON for each entity and for the metadata, with a label before it; empty if there is none. Lines beyond
 * `charsMax` are left out, those about the whole site first.
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
