// Texts that every database can store: some refuse NUL, and an unpaired surrogate has no UTF-8 encoding.

/** Whether a text can be stored unchanged. */
export function isStorable(text: string): boolean {
  return !text.includes("\u0000") && text.isWellFormed();
}

/** The text with U+FFFD for what cannot be stored; for texts that no user can correct. */
export function storable(text: string): string {
  return isStorable(text) ? text : text.replaceAll("\u0000", "\ufffd").toWellFormed();
}
