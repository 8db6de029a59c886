// How pages in the browser reach the network: a local browser through a proxy of its own for each page, a browser on another
// machine through the one address of the gateway that it knows.

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

/** Opens the proxies for pages. */
export interface BrowserEgress {
  /** Whether another program started the browser, so that its command-line switches cannot be relied on. */
  readonly isRemote: boolean;
  /** Opens a proxy for a page; the caller closes it. Throws `PageError` `no_browser`. */
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

/** The egress of a remote browser that reaches the gateway at `proxyAddress` (`host:port`). It starts to listen on first use. */
export function createRemoteEgress(proxyAddress: string): BrowserEgress {
  const port = Number(/:(\d+)$/.exec(proxyAddress)?.[1] ?? Number.NaN);
  let listening: Promise<SharedProxy> | undefined;
  return {
    isRemote: true,
    open: async (guard) => {
      // The address is the one by which the browser reaches the gateway, for example a container's name. The matching local
      // address is unknown, so the proxy listens on all of them.
      listening ??= startSharedProxy({ hostname: proxyAddress.startsWith("[") ? "::" : "0.0.0.0", port });
      try {
        const way = (await listening).open(guard);
        const { username, password } = way;
        return { way, ticket: { server: `http://${proxyAddress}`, username, password } };
      } catch (error) {
        listening = undefined;
        throw new PageError("no_browser", "The proxy for the remote browser could not be opened.", {
          cause: error,
        });
      }
    },
    close: async () => (await listening?.catch(() => undefined))?.close(),
  };
}
