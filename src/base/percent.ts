// Percent-encoded text as people read it.

/** The text decoded; as it is where its escapes are no UTF-8. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
