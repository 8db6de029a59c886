// How a page in the browser gets out: through a proxy of its own beside us, or, for a browser on another machine, through
// the one address of ours that it knows.

import type { AddressGuard } from "../../net/address-guard.ts";
import type { PageWay } from "../../net/page-egress-policy.ts";
import { type SharedProxy, startProxy, startSharedProxy } from "../../net/proxy.ts";
import { PageError } from "../page-error.ts";

/** What the browser is told about a page's proxy. */
export interface ProxyTicket {
  readonly server: string;
  readonly username?: string;
  readonly password?: string;
}

/** Opens ways out. */
export interface BrowserEgress {
  /** The browser is not the one we start: its own switches cannot be relied on. */
  readonly isRemote: boolean;
  /** The caller closes the way. Throws `PageError` `no_browser`. */
  open(guard: AddressGuard): Promise<{ way: PageWay; ticket: ProxyTicket }>;
  /** Ends what listens; open ways end with it. */
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
      // The address is the browser's word for us (a container's name, say); which of ours it means is not known here.
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
