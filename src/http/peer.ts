// Identifies the client: the connection's own address, or what our trusted proxies say in X-Forwarded-For, read from the
// right as far as the chain is trusted.

import type { BlockList } from "node:net";
import { ipVersion } from "../base/ip-address.ts";
import { nodeNet } from "../base/node-modules.ts";

/** The client. */
export interface Peer {
  readonly address: string;
  readonly secure: boolean;
  /** Whether the address may be that of an unlisted proxy: then the client's own is unknown. */
  readonly isUnnamedProxy: boolean;
}

/** The networks whose forwarded headers are trusted. */
export class TrustedProxies {
  /** Undefined if there are none. */
  readonly #list: BlockList | undefined;
  /** Undefined after it was called. */
  #untrusted: ((peer: string) => void) | undefined;

  /** `untrusted` is called once if a peer outside these networks sends proxy headers: it may be an unlisted proxy. */
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

  /** The client's address and whether it came by HTTPS. */
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
    // The rightmost hop that is not our proxy is the client; everything left of it may be forged.
    for (let i = hops.length - 1; i >= 0; i--) {
      const hop = hops[i] ?? "";
      if (ipVersion(hop) === 0) break;
      address = hop;
      if (!this.trusts(hop)) break;
    }
    const secure = request.headers.get("x-forwarded-proto")?.split(",").at(-1)?.trim() === "https";
    return { address, secure, isUnnamedProxy: false };
  }

  /** Whether an unlisted proxy, on one of these networks or this machine, sent it for someone else. */
  isProxied(request: Request, connected: () => string): boolean {
    if (!request.headers.has("x-forwarded-for")) return false;
    const own = plain(connected());
    return own === "::1" || own.startsWith("127.") || this.trusts(own);
  }

  /** Whether an address is in one of these networks. */
  trusts(address: string): boolean {
    if (this.#list === undefined) return false;
    const family = ipVersion(address);
    return family !== 0 && this.#list.check(address, family === 6 ? "ipv6" : "ipv4");
  }
}

/** IPv4 addresses in their own notation, even if a dual-stack socket maps them. */
function plain(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}
