// Splits a page into the parts that a model sees one by one. Pure.

import type { StructuredData } from "../../pages/structured/structured.ts";
import { CHARS_PER_TOKEN_MAX, chunksOf, estimateTokens } from "./chunks.ts";
import { evidenceText } from "./evidence.ts";

/** A page, and the number of tokens for each of its parts. */
export interface PartsTask {
  readonly markdown: string;
  readonly structured: StructuredData | undefined;
  readonly room: number;
}

/** The parts of a page. */
export interface PageParts {
  /** The page's structured data as text, which the first part shows. */
  readonly evidence: string;
  /** At least one text; a page without text has an empty one. */
  readonly texts: readonly string[];
  /** Whether the rest of the page was left out. */
  readonly isCut: boolean;
}

/** Maximum number of parts of one page. The rest of the page is left out, with a warning. */
export const PARTS_MAX = 12;
/** Maximum share of a part for structured data, if each character counts as one token. */
const EVIDENCE_SHARE = 0.4;

/** Splits a page. */
export function pageParts({ markdown, structured, room }: PartsTask): PageParts {
  const evidence = structured === undefined ? "" : evidenceText(structured, Math.floor(room * EVIDENCE_SHARE));
  const text = markdown.slice(0, PARTS_MAX * room * CHARS_PER_TOKEN_MAX);
  const chunks = chunksOf(text, room - estimateTokens(evidence));
  const isCut = chunks.length > PARTS_MAX || text.length < markdown.length;
  return { evidence, texts: chunks.length === 0 ? [""] : chunks.slice(0, PARTS_MAX), isCut };
}
