// Classifies an IP address: public, private, or a cloud's metadata service. An address is only public if it, and every IPv4
// address embedded in it, are global unicast addresses. An address that cannot be parsed is not public.

import { type AddressBytes, parseAddress } from "../base/ip-address.ts";
import { lazily } from "../base/lazily.ts";

/** The class of an address. */
export type AddressKind = "global" | "private" | "metadata" | "invalid";

interface Range {
  readonly bytes: AddressBytes;
  readonly bits: number;
}

/**
 * The class of an address. Metadata takes precedence over private, so that it is refused even if private networks are allowed.
 */
export function classifyAddress(text: string): AddressKind {
  const bytes = parseAddress(text);
  if (bytes === undefined) return "invalid";
  const embedded = embeddedV4(bytes);
  if (METADATA().some((range) => contains(range, bytes) || embedded.some((inner) => contains(range, inner))))
    return "metadata";
  return isGlobal(bytes) ? "global" : "private";
}

/** Whether an address, or an IPv4 address embedded in it, is one of `others`. */
export function isOneOf(text: string, others: readonly string[]): boolean {
  const bytes = parseAddress(text);
  if (bytes === undefined) return false;
  const ways = [bytes, ...embeddedV4(bytes)].map(String);
  return others.some((other) => ways.includes(String(parseAddress(other))));
}

/** Creates a test for a CIDR (`10.0.0.0/8`) or a single address; undefined for other texts. */
export function parseCidr(text: string): ((address: string) => boolean) | undefined {
  const range = readRange(text);
  if (range === undefined) return undefined;
  return (address) => {
    const bytes = parseAddress(address);
    if (bytes === undefined) return false;
    return contains(range, bytes) || mappedV4(bytes).some((inner) => contains(range, inner));
  };
}

function isGlobal(bytes: AddressBytes): boolean {
  if (bytes.length === 4) return !PRIVATE_V4().some((range) => contains(range, bytes));
  // IPv4-mapped and NAT64 addresses have the class of the IPv4 address in them; RFC 4291 2.5.5.2, RFC 6052 2.1.
  if (contains(MAPPED(), bytes) || contains(NAT64(), bytes)) return isGlobal(bytes.slice(12));
  // Only 2000::/3 is allocated as global unicast, and not all of it.
  return contains(GLOBAL_V6(), bytes) && !PRIVATE_V6().some((range) => contains(range, bytes));
}

/** All IPv4 addresses that a transition mechanism might extract from an IPv6 address. */
function embeddedV4(bytes: AddressBytes): AddressBytes[] {
  if (bytes.length === 4) return [];
  const found: AddressBytes[] = [];
  // Mapped, IPv4-compatible, SIIT (::ffff:0:a.b.c.d), NAT64, local NAT64 and ISATAP addresses contain it in the last four bytes.
  found.push(bytes.slice(12));
  if (contains(SIX_TO_FOUR(), bytes)) found.push(bytes.slice(2, 6));
  return found;
}

function mappedV4(bytes: AddressBytes): AddressBytes[] {
  return bytes.length === 16 && contains(MAPPED(), bytes) ? [bytes.slice(12)] : [];
}

function contains(range: Range, bytes: AddressBytes): boolean {
  if (range.bytes.length !== bytes.length) return false;
  for (let bit = 0; bit < range.bits; bit += 8) {
    const mask = range.bits - bit >= 8 ? 0xff : (0xff << (8 - (range.bits - bit))) & 0xff;
    if (((range.bytes[bit / 8] ?? 0) & mask) !== ((bytes[bit / 8] ?? 0) & mask)) return false;
  }
  return true;
}

function readRange(text: string): Range | undefined {
  const [address = "", bitsText, more] = text.trim().split("/");
  const bytes = parseAddress(address);
  if (bytes === undefined || more !== undefined) return undefined;
  const bits = bitsText === undefined ? bytes.length * 8 : /^\d{1,3}$/.test(bitsText) ? Number(bitsText) : -1;
  return bits < 0 || bits > bytes.length * 8 ? undefined : { bytes, bits };
}

/** Read when they are first needed, so that a start does not wait for it. */
function ranges(...texts: string[]): () => readonly Range[] {
  return lazily(() => texts.map(rangeOf));
}

function rangeOf(text: string): Range {
  const range = readRange(text);
  if (range === undefined) throw new Error(`not a CIDR: ${text}`);
  return range;
}

// From the IANA registries of special-purpose addresses: all ranges that are not globally reachable.
const PRIVATE_V4 = ranges(
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
);
const GLOBAL_V6 = lazily(() => rangeOf("2000::/3"));
const MAPPED = lazily(() => rangeOf("::ffff:0:0/96"));
const NAT64 = lazily(() => rangeOf("64:ff9b::/96"));
const SIX_TO_FOUR = lazily(() => rangeOf("2002::/16"));
// 2001::/23 contains Teredo, ORCHID and benchmarking; a relay of 6to4 (2002::/16) may forward to any address.
const PRIVATE_V6 = ranges("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20");
// Instance metadata services: the common link-local ones, AWS ECS and EKS, Scaleway, Tencent, Alibaba, Oracle, Azure's
// wire server, and the IPv6 ones of AWS, Google and Scaleway.
const METADATA = ranges(
  "169.254.169.0/24",
  "169.254.170.0/24",
  "169.254.42.42",
  "169.254.0.23",
  "100.100.100.200",
  "192.0.0.192",
  "168.63.129.16",
  "fd00:ec2::/32",
  "fd20:ce::254",
  "fd00:42::42",
);
