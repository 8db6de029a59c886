// Citations of pages as OpenAI's formats write them, in a neutral form: chat completions nest the members, the Responses API does not.

import { isRecord } from "../base/json-object.ts";

/** A page that a text cites. */
export interface PageCitation {
  readonly url: string;
  readonly title: string;
  /** What the page says; "" if that is not known. */
  readonly quote: string;
  /** Where the citation stands in the answer's text. Both are 0 if that is not known. */
  readonly start: number;
  readonly end: number;
}

/** The cited pages among a text's annotations. */
export function pageCitations(annotations: readonly unknown[] | undefined): PageCitation[] {
  return (annotations ?? []).filter(isRecord).flatMap((one) => {
    if (one["type"] !== "url_citation") return [];
    const said = isRecord(one["url_citation"]) ? one["url_citation"] : one;
    const { url, title, content, start_index: start, end_index: end } = said;
    if (typeof url !== "string" || url === "") return [];
    return [{ url, title: textOf(title), quote: textOf(content), start: positionOf(start), end: positionOf(end) }];
  });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function positionOf(value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : 0;
}
