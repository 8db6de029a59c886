// Percent-encoded text for display.

/** The decoded text; unchanged if its escapes are not UTF-8. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
