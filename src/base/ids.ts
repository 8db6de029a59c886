// Identifiers: time-ordered, and unguessable where that matters; each kind has its public prefix.

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** `length` characters of [0-9A-Za-z] from the system's secure random source; 62^length values, unbiased. */
export function randomText(length: number): string {
  let out = "";
  while (out.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array((length - out.length) * 2))) {
      // 248 = 4 * 62: larger bytes would favour the first characters.
      if (byte < 248 && out.length < length) out += ALPHABET[byte % 62];
    }
  }
  return out;
}

/** A UUIDv7: sorts by time. */
export function uuid(): string {
  return Bun.randomUUIDv7();
}

/** An id with a public prefix, such as `chatcmpl-…`: the prefix and 32 hex digits that sort by time. */
export function prefixedId(prefix: string): string {
  const id = Bun.randomUUIDv7();
  return prefix + id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24);
}

/** Lower-case hex SHA-256. */
export function sha256Hex(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
