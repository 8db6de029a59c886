// What an answer rests on, in Gemini's format: queries, pages, and the parts of the text that rest on them.

import { isRecord } from "../../base/json-object.ts";
import { type PageCitation, pageCitations } from "../../chat/page-citations.ts";
import type { Citation, ServerToolCall, ServerToolOutput } from "../../chat/server-tools.ts";

type Json = Record<string, unknown>;

/** Collects the metadata of one choice. */
export class Grounding {
  readonly #queries: string[] = [];
  readonly #fetched: Json[] = [];
  readonly #pages = new Map<string, { index: number; title: string }>();
  readonly #supports: Json[] = [];
  #own: Json | undefined;

  addCall({ kind }: Pick<ServerToolCall, "kind">, input: Readonly<Json>): void {
    if (kind === "web_search") this.#queries.push(String(input["query"] ?? ""));
  }

  addResult(output: ServerToolOutput, input: Readonly<Json>): void {
    if (output.type === "pages") for (const page of output.pages) this.#page(page);
    else if (output.type === "page") {
      this.#page(output.page);
      this.#fetched.push({ retrievedUrl: output.page.url, urlRetrievalStatus: "URL_RETRIEVAL_STATUS_SUCCESS" });
    } else if (input["url"] !== undefined) {
      this.#fetched.push({ retrievedUrl: String(input["url"]), urlRetrievalStatus: "URL_RETRIEVAL_STATUS_ERROR" });
    }
  }

  /** `text`: the texts of the answer up to the citation. */
  addCitation(citation: Citation, text: string): void {
    const { before, start, end } = citation;
    this.#support(text, before + start, before + end, this.#page(citation));
  }

  /**
   * What a provider says of its own search: pages, or in this protocol all of it, which is passed on as it is. `text`: the texts of
   * the answer; undefined if they are not known.
   */
  addNotes(annotations: readonly unknown[] | undefined, text: string | undefined): void {
    for (const page of pageCitations(annotations)) this.#addPage(page, text);
    this.#own = annotations?.find(isOwn) ?? this.#own;
  }

  #addPage(page: PageCitation, text: string | undefined): void {
    const { start, end } = page;
    const index = this.#page(page);
    if (text === undefined || end <= start || end > text.length) return;
    this.#support(text, start, end, index);
  }

  #support(text: string, start: number, end: number, index: number): void {
    const startIndex = Buffer.byteLength(text.slice(0, start));
    const said = text.slice(start, end);
    this.#supports.push({
      // The protocol counts bytes.
      segment: { startIndex, endIndex: startIndex + Buffer.byteLength(said), text: said },
      groundingChunkIndices: [index],
    });
  }

  /** The members of the candidate. */
  members(): Json {
    const found = this.#queries.length > 0 || this.#pages.size > 0;
    return {
      ...(found
        ? {
            groundingMetadata: {
              webSearchQueries: this.#queries,
              groundingChunks: [...this.#pages].map(([uri, { title }]) => ({ web: { uri, title } })),
              groundingSupports: this.#supports,
            },
          }
        : this.#own === undefined
          ? {}
          : { groundingMetadata: this.#own }),
      ...(this.#fetched.length > 0 ? { urlContextMetadata: { urlMetadata: this.#fetched } } : {}),
    };
  }

  #page({ url, title }: { url: string; title: string }): number {
    const known = this.#pages.get(url);
    if (known !== undefined) return known.index;
    const index = this.#pages.size;
    this.#pages.set(url, { index, title });
    return index;
  }
}

function isOwn(annotation: unknown): annotation is Json {
  return isRecord(annotation) && ("groundingChunks" in annotation || "webSearchQueries" in annotation);
}
