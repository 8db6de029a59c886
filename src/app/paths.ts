// What the edge must know about paths: which belong to the API, which maintenance closes, and which response headers browsers
// may read.

import { edgeTraits } from "../gateway/admission/endpoints.ts";
import type { PathRules } from "../http/edge.ts";
import { FIRECRAWL_TRAITS } from "../web/firecrawl/failure.ts";
import { aliasOf } from "./aliases.ts";

/** What maintenance closes: the API, and the models behind the dashboard's playground. */
const CLOSABLE =
  /^(?:\/typesafe)?\/v1\/|^\/v1beta\/|^\/v2\/|^\/mcp$|^\/api\/(?!v1\/)|^\/searxng\/|^\/dashboard\/api\/playground(?:\/|$)/;

/** Paths that answer during maintenance too; moderations always answer that there are none. */
const ALWAYS_OPEN = /^\/v1\/(?:auth|status|stats|capabilities|moderations)(?:\/|$)/;

/** Paths that only Firecrawl's clients call, which print the member `error` as a text. */
const FIRECRAWL = /^\/v2\/|^\/v1\/batch\/|^\/v1\/crawl\/[^/]+\/errors$/;

/** The rules of this program. */
export const PATHS: PathRules = {
  alias: aliasOf,
  isApi: (path) =>
    path.startsWith("/v1/") ||
    path.startsWith("/v1beta/") ||
    path.startsWith("/v2/") ||
    path.startsWith("/api/") ||
    path.startsWith("/typesafe/") ||
    path === "/openapi.json",
  isClosable: (path) => CLOSABLE.test(path) && !ALWAYS_OPEN.test(path),
  traits: (path) => (FIRECRAWL.test(path) ? FIRECRAWL_TRAITS : edgeTraits(path)),
  // Our own response headers.
  exposedHeaders: [
    "X-Request-ID",
    "Request-ID",
    "Retry-After",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-RateLimit-Limit-Tokens",
    "X-RateLimit-Remaining-Tokens",
    "X-RateLimit-Reset-Tokens",
    "x-sallyport-model",
    "x-sallyport-route",
    "x-sallyport-cache",
    "x-sallyport-cost",
    "x-sallyport-calibration",
    "x-sallyport-label-mass",
    "x-sallyport-prior-calls",
    "x-sallyport-compaction",
    "x-sallyport-dropped",
    "x-sallyport-stop-reason",
  ].join(", "),
};
