// Which pages and names may reach the endpoint: pages of other sites are refused, and on a loopback address so are names
// that lead there from elsewhere (DNS rebinding).

import { isIP } from "node:net";
import { ApiError } from "../base/errors.ts";

/** What decides it. */
export interface OriginRules {
  /** The address that is listened on. */
  readonly host: string;
  /** Empty: not configured. */
  readonly publicUrl: string;
  /** Origins of further pages. */
  readonly allowedOrigins: readonly string[];
}

/** Throws 403 for a request under a foreign name, or from a page that may not ask. Gives the page's origin where there is one. */
export function checkOrigin({ headers }: Pick<Request, "headers">, rules: OriginRules): string | undefined {
  const host = (headers.get("host") ?? "").toLowerCase();
  const ownHost = hostOf(rules.publicUrl);
  const isLoopback = isLoopbackName(rules.host);
  if (isLoopback && !isLoopbackName(nameOf(host)) && host !== ownHost) {
    throw refused(`This gateway does not answer under the name "${host.slice(0, 200)}". Set server.public_url to it.`);
  }
  const origin = headers.get("origin");
  if (origin === null) return undefined;
  const own = URL.canParse(origin) ? new URL(origin).host : undefined;
  // Without a configured address the name that a client uses is the own one; on a loopback address it was looked at above.
  const isOwn = own !== undefined && (own === ownHost || (own === host && (isLoopback || ownHost === undefined)));
  if (!isOwn && !rules.allowedOrigins.some((allowed) => sameOrigin(allowed, origin))) {
    throw refused(
      "Pages of this origin may not call the gateway. The operator lists those that may in server.allowed_origins.",
    );
  }
  return origin;
}

function refused(message: string): ApiError {
  return new ApiError("origin_not_allowed", message);
}

function sameOrigin(allowed: string, origin: string): boolean {
  return allowed === origin || (URL.canParse(allowed) && new URL(allowed).origin === origin);
}

function hostOf(url: string): string | undefined {
  return url === "" ? undefined : new URL(url).host;
}

/** The name in a Host header. */
function nameOf(host: string): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : host;
}

function isLoopbackName(name: string): boolean {
  const plain = name.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  if (plain === "localhost" || plain.endsWith(".localhost") || plain === "::1") return true;
  return isIP(plain) === 4 && plain.startsWith("127.");
}
