// Encrypted reasoning in stored answers. It is stored in an envelope that tells which provider minted it, so that the next
// turn brings it back to that one after a restart too. A client that did not ask for it is not shown it.

import { type Fields, isFields } from "../check.ts";
import { carry, uncarry } from "../seal-envelopes.ts";
import { RESPONSES_ORIGIN } from "./tools.ts";

/** What `include` says of a client that wants encrypted reasoning. */
export const ENCRYPTED_REASONING = "reasoning.encrypted_content";

/** The answer as it is stored. `hidden`: its client was not shown the encrypted reasoning. */
export function storedAnswer(answer: Fields, { minter, hidden }: { minter: string; hidden: boolean }): Fields {
  const stored = hidden ? "hidden" : "shown";
  return withItems(answer, (item) => {
    const encrypted = item["encrypted_content"];
    if (item["type"] !== "reasoning" || typeof encrypted !== "string" || encrypted === "") return item;
    return { ...item, encrypted_content: carry({ origin: RESPONSES_ORIGIN, minter, encrypted, stored }) };
  });
}

/** A stored answer as its client may see it. `encrypted`: the client asks for encrypted reasoning now. */
export function shownAnswer(answer: Fields, { encrypted = false }: { encrypted?: boolean } = {}): Fields {
  return withItems(answer, (item) => shownItem(item, { encrypted }));
}

/** The same for one item. */
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
  return { ...answer, output: items.map((item: unknown) => (isFields(item) ? change(item) : item)) };
}
