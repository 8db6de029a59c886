// Who is at the other end: the connection's own address, or what proxies of ours say in X-Forwarded-For, read from the
// right as far as the chain is trusted.

import { BlockList, isIP } from "node:net";

/** Who is at the other end. */
export interface Peer {
  readonly address: string;
  readonly secure: boolean;
  /** True when the address may be that of a proxy that no one named: the client's own is not known then. */
  readonly isUnnamedProxy: boolean;
}

/** The networks whose forwarded headers are believed. */
export class TrustedProxies {
  readonly #list = new BlockList();
  readonly #any: boolean;
  /** Undefined once it was told. */
  #untrusted: ((peer: string) => void) | undefined;

  /** `untrusted` is told once that a peer outside these networks speaks as a proxy does: it may be one no one named. */
  constructor(cidrs: readonly string[], untrusted?: (peer: string) => void) {
    this.#any = cidrs.length > 0;
    this.#untrusted = untrusted;
    for (const cidr of cidrs) {
      const [address = "", bits] = cidr.split("/");
      const family = isIP(address) === 6 ? "ipv6" : "ipv4";
      this.#list.addSubnet(address, Number(bits ?? (family === "ipv6" ? 128 : 32)), family);
    }
  }

  /** The client's address and whether it came by HTTPS. */
  peer(request: Request, connected: string): Peer {
    const own = plain(connected);
    if (!this.#any || !this.trusts(own)) {
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
    // The rightmost hop that is not a proxy of ours is the client; whatever stands left of it may be made up.
    for (let i = hops.length - 1; i >= 0; i--) {
      const hop = hops[i] ?? "";
      if (isIP(hop) === 0) break;
      address = hop;
      if (!this.trusts(hop)) break;
    }
    const secure = request.headers.get("x-forwarded-proto")?.split(",").at(-1)?.trim() === "https";
    return { address, secure, isUnnamedProxy: false };
  }

  /** Whether a proxy sent it for someone else: one of these, or one on this machine, that no one named. */
  isProxied(request: Request, connected: () => string): boolean {
    if (!request.headers.has("x-forwarded-for")) return false;
    const own = plain(connected());
    return own === "::1" || own.startsWith("127.") || this.trusts(own);
  }

  /** Whether an address is one of these networks'. */
  trusts(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.#list.check(address, family === 6 ? "ipv6" : "ipv4");
  }
}

/** IPv4 addresses in their own notation, also where a dual-stack socket wraps them. */
function plain(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}
