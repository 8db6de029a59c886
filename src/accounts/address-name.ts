// The name under which the tries of a client's address are counted.

import { ipVersion } from "../base/ip-address.ts";

/** The name for an address: an IPv6 customer has at least a /64, so that counts as one address. */
export function addressName(address: string): string {
  if (ipVersion(address) !== 6) return `address:${address}`;
  const [head = "", tail = ""] = address.toLowerCase().split("%")[0]!.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === "" ? [] : tail.split(":");
  const zeros = address.includes("::") ? Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0") : [];
  const network = [...left, ...zeros, ...right].slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ""));
  return `address:${network.join(":")}::/64`;
}
