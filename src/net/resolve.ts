// Resolves host names, by the system's resolver or by the configured servers. It returns all addresses, since the guard must
// check all of them, and caches nothing, since the guard keeps the addresses that it checked.

import { parseAddress } from "../base/ip-address.ts";
import { nodeDns } from "../base/node-modules.ts";
import { untilAborted } from "../base/until-aborted.ts";

/** Returns all addresses of a host, IPv4 first. Throws `UnknownHost` if there are none. */
export type Resolve = (host: string, signal?: AbortSignal) => Promise<string[]>;

/** The name has no address, or the look-up failed. */
export class UnknownHost extends Error {
  override name = "UnknownHost";
}

/** A server that does not answer within this time is asked once more and then skipped. */
const QUERY_TIMEOUT_MS = 3000;
/** Maximum number of addresses, far more than any real site has. More would only slow down the checks. */
const ADDRESSES_MAX = 64;

/** Creates a resolver over `servers` (`"IP:port"` or `"IP"`), or over the system's resolver if there are none. */
export function createResolve(servers: readonly string[] = []): Resolve {
  const ask = servers.length === 0 ? askSystem : askServers(servers);
  return async (host, signal) => {
    const bare = host.replace(/^\[|\]$/g, "");
    if (parseAddress(bare) !== undefined) return [bare];
    // By RFC 6761, these names are loopback, whatever a name server answers.
    if (/(^|\.)localhost$/i.test(bare)) return ["127.0.0.1", "::1"];
    signal?.throwIfAborted();
    const addresses = await untilAborted(ask(bare), signal);
    if (addresses.length === 0) throw new UnknownHost(`The host name ${bare} cannot be resolved.`);
    return addresses.slice(0, ADDRESSES_MAX);
  };
}

async function askSystem(host: string): Promise<string[]> {
  const found = await nodeDns()
    .lookup(host, { all: true })
    .catch(() => []);
  return found.sort((a, b) => a.family - b.family).map((entry) => entry.address);
}

function askServers(servers: readonly string[]): (host: string) => Promise<string[]> {
  return async (host) => {
    // Each look-up uses a new resolver, because the library caches answers longer than their time to live.
    const resolver = new (nodeDns().Resolver)({ timeout: QUERY_TIMEOUT_MS, tries: 2 });
    resolver.setServers([...servers]);
    const [v4, v6] = await Promise.all([
      resolver.resolve4(host).catch(() => []),
      resolver.resolve6(host).catch(() => []),
    ]);
    return [...v4, ...v6];
  };
}
