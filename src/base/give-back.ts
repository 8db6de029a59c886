// Frees bytes that are not read again. The garbage collector would only free them after several hundred megabytes.

/** Frees the bytes, unless they are a view of a larger buffer, which belongs to others. */
export function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (byteLength === buffer.byteLength) giveBackAll(buffer as ArrayBuffer);
}

/** Frees a whole buffer. */
export function giveBackAll(buffer: ArrayBuffer): void {
  buffer.transfer(0);
}
