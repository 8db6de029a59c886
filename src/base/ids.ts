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
  return prefix + digitsOf(Bun.randomUUIDv7());
}

/** The 32 hex digits of a UUID. */
function digitsOf(id: string): string {
  return id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24);
}

/** An id with a public prefix that has the digits of a request's id, which is a UUID. */
export function idNamedByRequest(prefix: string, requestId: string): string {
  return prefix + digitsOf(requestId);
}

const DIGITS = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

/** The prefix of an id that may have been made by `idNamedByRequest`, and the id of the request; undefined if it was not. */
export function namedByRequest(id: string): { readonly prefix: string; readonly requestId: string } | undefined {
  const groups = DIGITS.exec(id.slice(-32));
  return groups === null ? undefined : { prefix: id.slice(0, -32), requestId: groups.slice(1).join("-") };
}

/** Lower-case hex SHA-256. */
export function sha256Hex(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
