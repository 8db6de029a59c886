// Identifies the client by the address of its connection or, behind trusted proxies, by X-Forwarded-For, which is read from the
// right as far as the proxies are trusted.

import type { BlockList } from "node:net";
import { ipVersion } from "../base/ip-address.ts";
import { nodeNet } from "../base/node-modules.ts";

/** The client. */
export interface Peer {
  readonly address: string;
  readonly secure: boolean;
  /** Whether the address may be that of an unlisted proxy, so that the client's own address is unknown. */
  readonly isUnnamedProxy: boolean;
}

/** The networks whose forwarded headers are trusted. */
export class TrustedProxies {
  /** Undefined if the list is empty. */
  readonly #list: BlockList | undefined;
  /** Called once, then undefined. */
  #untrusted: ((peer: string) => void) | undefined;

  /**
   * `untrusted` is called once, if a peer outside of these networks sends the headers of a proxy: it may be an unlisted proxy.
   */
  constructor(cidrs: readonly string[], untrusted?: (peer: string) => void) {
    this.#untrusted = untrusted;
    if (cidrs.length === 0) return;
    this.#list = new (nodeNet().BlockList)();
    for (const cidr of cidrs) {
      const [address = "", bits] = cidr.split("/");
      const family = ipVersion(address) === 6 ? "ipv6" : "ipv4";
      this.#list.addSubnet(address, Number(bits ?? (family === "ipv6" ? 128 : 32)), family);
    }
  }

  /** The client's address, and whether the client uses HTTPS. */
  peer(request: Request, connected: string): Peer {
    const own = plain(connected);
    if (!this.trusts(own)) {
      const isUnnamedProxy = request.headers.has("x-forwarded-for");
      if (this.#untrusted !== undefined && isUnnamedProxy) {
        const tell = this.#untrusted;
        this.#untrusted = undefined;
        tell(own);
      }
      return { address: own, secure: request.url.startsWith("https:"), isUnnamedProxy };
    }
    const hops = (request.headers.get("x-forwarded-for") ?? "").split(",").map((hop) => plain(hop.trim()));
    let address = own;
    // The rightmost address that is not a trusted proxy is the client's. All to the left of it may be forged.
    for (let i = hops.length - 1; i >= 0; i--) {
      const hop = hops[i] ?? "";
      if (ipVersion(hop) === 0) break;
      address = hop;
      if (!this.trusts(hop)) break;
    }
    const secure = request.headers.get("x-forwarded-proto")?.split(",").at(-1)?.trim() === "https";
    return { address, secure, isUnnamedProxy: false };
  }

  /** Whether an unlisted proxy, in one of these networks or on this machine, forwarded the request. */
  isProxied(request: Request, { addressOf }: { addressOf(request: Request): string }): boolean {
    if (!request.headers.has("x-forwarded-for")) return false;
    const own = plain(addressOf(request));
    return own === "::1" || own.startsWith("127.") || this.trusts(own);
  }

  /** Whether an address is in one of these networks. */
  trusts(address: string): boolean {
    if (this.#list === undefined) return false;
    const family = ipVersion(address);
    return family !== 0 && this.#list.check(address, family === 6 ? "ipv6" : "ipv4");
  }
}

/** The address in its own notation: a dual-stack socket maps IPv4 addresses to IPv6. */
function plain(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}
