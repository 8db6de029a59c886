// How a page in the browser reaches the network: through its own proxy beside us or, for a browser on another machine,
// through the one address of ours that it knows.

import type { AddressGuard } from "../../net/address-guard.ts";
import type { PageWay } from "../../net/page-egress-policy.ts";
import { type SharedProxy, startProxy, startSharedProxy } from "../../net/proxy.ts";
import { PageError } from "../page-error.ts";

/** The proxy settings that the browser gets for a page. */
export interface ProxyTicket {
  readonly server: string;
  readonly username?: string;
  readonly password?: string;
}

/** Opens proxies for pages. */
export interface BrowserEgress {
  /** We did not start this browser, so its command-line switches cannot be relied on. */
  readonly isRemote: boolean;
  /** Opens a proxy; the caller closes it. Throws `PageError` `no_browser`. */
  open(guard: AddressGuard): Promise<{ way: PageWay; ticket: ProxyTicket }>;
  /** Stops listening; open proxies end with it. */
  close(): Promise<void>;
}

/** The egress proxy of a local browser. */
export const LOCAL_EGRESS: BrowserEgress = {
  isRemote: false,
  open: async (guard) => {
    const way = await startProxy(guard);
    return { way, ticket: { server: `http://127.0.0.1:${way.port}` } };
  },
  close: async () => undefined,
};

/**
 * The egress proxy of a remote browser that reaches us as `proxyAddress` (`host:port`); it listens when first needed.
 */
export function createRemoteEgress(proxyAddress: string): BrowserEgress {
  const port = Number(/:(\d+)$/.exec(proxyAddress)?.[1] ?? Number.NaN);
  let listening: Promise<SharedProxy> | undefined;
  return {
    isRemote: true,
    open: async (guard) => {
      // The address is how the browser reaches us (a container's name, for example); which local address that is is not known
      // here.
      listening ??= startSharedProxy({ hostname: proxyAddress.startsWith("[") ? "::" : "0.0.0.0", port });
      try {
        const way = (await listening).open(guard);
        const { username, password } = way;
        return { way, ticket: { server: `http://${proxyAddress}`, username, password } };
      } catch (error) {
        listening = undefined;
        throw new PageError("no_browser", "The remote browser's way to this gateway cannot be opened.", {
          cause: error,
        });
      }
    },
    close: async () => (await listening?.catch(() => undefined))?.close(),
  };
}
