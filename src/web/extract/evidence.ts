// What a page says in forms made for programs, as text: what a model is shown beside the page, and what quotes of it are
// looked for in.

import type { Entity, StructuredData } from "../../pages/structured/structured.ts";
import { isFrame } from "./things.ts";

/**
 * A line of JSON for each thing and for the metadata, with a label before it; empty where there is nothing. Lines that go
 * beyond `charsMax` are left out, those about the site as a whole first.
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
