// What clients carry of a tool's result: the pages as the model was given them, sealed for their account.

import { isRecord } from "../../../base/json-object.ts";
import { lazily } from "../../../base/lazily.ts";
import type { FoundPage } from "../../../chat/server-tools.ts";
import { isSealedHere } from "../compaction/seal.ts";
import type { ChatToolsDeps, GivenPage } from "./deps.ts";

/** Distinguishes these seals from those of records. */
const KIND = "pages";

/** Seals and opens for one account. */
export class PageSeals {
  readonly #sealer: ChatToolsDeps["sealer"];
  readonly #accountId: string;

  constructor(sealer: ChatToolsDeps["sealer"], accountId: string) {
    this.#sealer = sealer;
    this.#accountId = accountId;
  }

  /** Pages of one call in one value. */
  all(callId: string, pages: readonly GivenPage[]): () => string {
    return lazily(() => this.#sealer.sealText(JSON.stringify({ kind: KIND, callId, pages }), this.#accountId));
  }

  /** A page with its own value. */
  found(callId: string, page: GivenPage): FoundPage {
    return { url: page.url, title: page.title, sealed: this.all(callId, [page]) };
  }

  /** The name of a page in a citation. */
  cited(n: number): () => string {
    return lazily(() => this.#sealer.sealText(JSON.stringify({ kind: "citation", n }), this.#accountId));
  }

  /** The pages in a value: `foreign` if another server made it, `changed` if it is not for this account or not as it was. */
  open(value: unknown): { callId: string; pages: readonly GivenPage[] } | "foreign" | "changed" {
    if (typeof value !== "string" || !isSealedHere(value)) return "foreign";
    const text = this.#sealer.openText(value, this.#accountId);
    const read: unknown = text === undefined ? undefined : JSON.parse(text);
    if (!isRecord(read) || read["kind"] !== KIND) return "changed";
    return { callId: String(read["callId"]), pages: read["pages"] as readonly GivenPage[] };
  }
}
