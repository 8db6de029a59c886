// Reads IP addresses. Our own, because the platform's is part of its sockets, which a start does without.

/** An address as 4 or 16 bytes. */
export type AddressBytes = readonly number[];

/** Parses a dotted IPv4 or an IPv6 address (brackets and a zone are tolerated); undefined if it is neither. */
export function parseAddress(text: string): AddressBytes | undefined {
  const bare = text.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  return bare.includes(":") ? parseV6(bare) : parseV4(bare);
}

/** 4 or 6 for an address in its usual notation (a zone is allowed, brackets are not), 0 for any other text. */
export function ipVersion(text: string): 0 | 4 | 6 {
  if (!text.includes(":")) return parseV4(text) === undefined ? 0 : 4;
  return parseV6(text.replace(/%[0-9a-zA-Z.:-]+$/, "")) === undefined ? 0 : 6;
}

function parseV4(text: string): AddressBytes | undefined {
  // Strict: four decimal parts. The URL parser normalises other spellings; here they are not addresses.
  if (!/^(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}$/.test(text)) return undefined;
  const bytes = text.split(".").map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

function parseV6(text: string): AddressBytes | undefined {
  let body = text;
  const tail = /:(\d+\.\d+\.\d+\.\d+)$/.exec(text)?.[1];
  if (tail !== undefined) {
    const v4 = parseV4(tail);
    if (v4 === undefined) return undefined;
    const [a = 0, b = 0, c = 0, d = 0] = v4;
    body = `${text.slice(0, -tail.length)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  }
  const halves = body.split("::");
  if (halves.length > 2) return undefined;
  const groups = halves.map((half) => (half === "" ? [] : half.split(":")));
  const count = groups.reduce((sum, half) => sum + half.length, 0);
  if (halves.length === 1 ? count !== 8 : count > 7) return undefined;
  const all = [...(groups[0] ?? []), ...Array<string>(8 - count).fill("0"), ...(groups[1] ?? [])];
  if (!all.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]);
}
