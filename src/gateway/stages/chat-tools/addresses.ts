// The addresses of a conversation that may be read: those that its user wrote, or that tools returned. What the model itself
// wrote does not count, so that a page cannot make it send words of the conversation somewhere.

import type { ChatMessages } from "./deps.ts";

const ADDRESS = /https?:\/\/[^\s<>"'`\\^{}|]+/g;
/** Marks that end a sentence or a bracket around an address. */
const TRAILING: ReadonlySet<string> = new Set(")].,;:!?*_");

/** Whether an address stands in the conversation. */
export function knownAddresses(messages: ChatMessages): Set<string> {
  const known = new Set<string>();
  for (const message of messages) {
    if (message.role === "user") for (const part of message.content) if (part.type === "text") add(part.text, known);
    if (message.role !== "tool") continue;
    for (const result of message.content) {
      for (const part of result.content) if (part.type === "text") add(part.text, known);
    }
  }
  return known;
}

function add(text: string, known: Set<string>): void {
  for (const [found] of text.matchAll(ADDRESS)) {
    for (const address of [found, withoutTrailing(found)]) if (URL.canParse(address)) known.add(normal(address));
  }
}

/** Read from the end: an expression would begin anew at each mark of a long run. */
function withoutTrailing(address: string): string {
  let end = address.length;
  while (TRAILING.has(address[end - 1]!)) end--;
  return address.slice(0, end);
}

/** An address without its fragment, which is not sent. */
export function normal(address: string): string {
  const url = new URL(address);
  url.hash = "";
  return url.href;
}
