// Encrypted reasoning in stored answers. It is stored in an envelope that names the provider that issued it, so that the next
// turn returns it to that provider even after a restart. A client that did not request it does not see it.

import { isRecord } from "../../base/json-object.ts";
import type { Fields } from "../check.ts";
import { carry, uncarry } from "../seal-envelopes.ts";
import { RESPONSES_ORIGIN } from "./tools.ts";

/** The entry of `include` that requests encrypted reasoning. */
export const ENCRYPTED_REASONING = "reasoning.encrypted_content";

/** An answer as it is stored. `hidden`: whether its client did not see the encrypted reasoning. */
export function storedAnswer(answer: Fields, { minter, hidden }: { minter: string; hidden: boolean }): Fields {
  const stored = hidden ? "hidden" : "shown";
  return withItems(answer, (item) => {
    const encrypted = item["encrypted_content"];
    if (item["type"] !== "reasoning" || typeof encrypted !== "string" || encrypted === "") return item;
    return { ...item, encrypted_content: carry({ origin: RESPONSES_ORIGIN, minter, encrypted, stored }) };
  });
}

/** A stored answer as its client may see it. `encrypted`: whether the client now requests encrypted reasoning. */
export function shownAnswer(answer: Fields, { encrypted = false }: { encrypted?: boolean } = {}): Fields {
  return withItems(answer, (item) => shownItem(item, { encrypted }));
}

/** One item of a stored answer as its client may see it. */
export function shownItem(item: Fields, { encrypted = false }: { encrypted?: boolean } = {}): Fields {
  const { encrypted_content: content, ...rest } = item;
  if (item["type"] !== "reasoning" || typeof content !== "string") return item;
  const carried = uncarry(content);
  if (carried?.stored === undefined) return item;
  return carried.stored === "hidden" && !encrypted ? rest : { ...item, encrypted_content: carried.encrypted };
}

function withItems(answer: Fields, change: (item: Fields) => Fields): Fields {
  const items = answer["output"];
  if (!Array.isArray(items)) return answer;
  return { ...answer, output: items.map((item: unknown) => (isRecord(item) ? change(item) : item)) };
}
