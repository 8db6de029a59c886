// Decides under which host names a gateway on a loopback address answers browsers. Any web page can make its own name resolve to
// such an address (DNS rebinding), and is then of one origin with the gateway.

import { ApiError } from "../base/errors.ts";
import { ipVersion } from "../base/ip-address.ts";

/** The configuration on which the decision depends. */
export interface HostRules {
  /** The address on which the gateway listens. */
  readonly host: string;
  /** The addresses under which it is reached, empty where they are not configured. */
  readonly ownUrls: readonly string[];
}

/** Throws 403 for a request with a foreign host name, if the gateway listens on a loopback address. */
export function refuseForeignHost(
  { headers }: Pick<Request, "headers">,
  { host: listensOn, ownUrls }: HostRules,
): void {
  if (!isLoopbackName(listensOn)) return;
  const host = (headers.get("host") ?? "").toLowerCase();
  const name = nameOf(host);
  if (isLoopbackName(name) || ownUrls.some((url) => URL.canParse(url) && new URL(url).hostname === name)) return;
  throw new ApiError(
    "origin_not_allowed",
    `This gateway does not answer under the name "${host.slice(0, 200)}". Set server.public_url to it.`,
  );
}

/** The host and port of a configured address; undefined if it is empty. */
export function hostOfUrl(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}

/** The host name in a Host header. */
function nameOf(host: string): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : host;
}

/** Whether a host name can only mean this machine. */
export function isLoopbackName(name: string): boolean {
  const plain = name.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  if (plain === "localhost" || plain.endsWith(".localhost") || plain === "::1") return true;
  return ipVersion(plain) === 4 && plain.startsWith("127.");
}
