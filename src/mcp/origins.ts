// Decides which pages and host names may reach the endpoint. Pages of other sites are refused. If the gateway listens on a
// loopback address, other host names are refused too, since they may have been made to resolve to it (DNS rebinding).

import { ApiError } from "../base/errors.ts";
import { hostOfUrl, isLoopbackName, refuseForeignHost } from "../http/host-name.ts";

/** The configuration on which the decision depends. */
export interface OriginRules {
  /** The address on which the gateway listens. */
  readonly host: string;
  /** The public address; empty if it is not configured. */
  readonly publicUrl: string;
  /** Origins of other pages that are allowed. */
  readonly allowedOrigins: readonly string[];
}

/**
 * Throws 403 for a request with a foreign host name, or from a page that is not allowed. Returns the page's origin, if
 * there is one.
 */
export function checkOrigin({ headers }: Pick<Request, "headers">, rules: OriginRules): string | undefined {
  refuseForeignHost({ headers }, { host: rules.host, ownUrls: [rules.publicUrl] });
  const host = (headers.get("host") ?? "").toLowerCase();
  const ownHost = hostOfUrl(rules.publicUrl);
  const isLoopback = isLoopbackName(rules.host);
  const origin = headers.get("origin");
  if (origin === null) return undefined;
  const own = URL.canParse(origin) ? new URL(origin).host : undefined;
  // Without a configured address, the name that the client uses counts as the gateway's own. On a loopback address, that name was
  // checked above.
  const isOwn = own !== undefined && (own === ownHost || (own === host && (isLoopback || ownHost === undefined)));
  if (!isOwn && !rules.allowedOrigins.some((allowed) => sameOrigin(allowed, origin))) {
    throw new ApiError(
      "origin_not_allowed",
      "Pages of this origin may not call the gateway. The operator can allow the origin in server.allowed_origins.",
    );
  }
  return origin;
}

function sameOrigin(allowed: string, origin: string): boolean {
  return allowed === origin || (URL.canParse(allowed) && new URL(allowed).origin === origin);
}
