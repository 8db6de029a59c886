// Decides which headers are forwarded: all except those that belong to one connection, those that carry a credential or reveal a
// client's address, and those that this gateway sets itself.

/**
 * Headers that belong to one connection (RFC 9110, section 7.6.1), or that give the length or the encoding of its body.
 */
const OF_CONNECTION = [
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "content-length",
];
const NOT_UP = new Set([
  ...OF_CONNECTION,
  ...["host", "expect", "authorization", "cookie", "accept-encoding", "forwarded", "via", "origin", "referer"],
  // They choose whom the operator's credential bills, or are a part of a credential.
  ...["openai-organization", "openai-project", "x-goog-user-project", "x-amz-security-token"],
  // Some servers and proxies take them for the client's address, the path or the method.
  ...["true-client-ip", "x-original-url", "x-original-host", "x-rewrite-url"],
  ...["x-http-method", "x-http-method-override", "x-method-override"],
]);
const NOT_DOWN = new Set([
  ...OF_CONNECTION,
  // Left out because the body is decompressed on its way.
  ...["content-encoding", "set-cookie", "alt-svc", "strict-transport-security", "x-request-id", "location"],
  // They tell a browser what to do with pages of this gateway's origin.
  ...["refresh", "clear-site-data", "service-worker-allowed", "content-security-policy", "x-frame-options"],
  ...["content-security-policy-report-only", "permissions-policy", "nel", "report-to", "reporting-endpoints", "link"],
  ...["x-content-type-options", "x-xss-protection", "referrer-policy", "sourcemap", "x-sourcemap"],
]);
/** Names of credentials of any vendor, and of headers with clients' addresses. */
const NOT_UP_NAMES =
  /(?:^|-)(?:api-key|api-token|auth-token|access-token)$|^x-(?:forwarded|real|sallyport|client-ip)|^cf-|^sec-/;
/** Names of headers that show which account of the operator answered, and of a browser's policies. */
const NOT_DOWN_NAMES =
  /^cross-origin-|-(?:organization|project|workspace|account)(?:-id)?$|^access-control-|^x-sallyport-|^x-ratelimit-(?:limit|remaining|reset)$/;

/** The client's headers that are sent to the provider. */
export function headersUp(headers: Headers): Record<string, string> {
  const listed = connectionListed(headers);
  const out: Record<string, string> = { "accept-encoding": "identity" };
  for (const [name, value] of headers) {
    if (!NOT_UP.has(name) && !NOT_UP_NAMES.test(name) && !listed.has(name)) out[name] = value;
  }
  return out;
}

/** The provider's headers that are sent to the client; `scrub` removes secrets from their values. */
export function headersDown(headers: Headers, scrub: (text: string) => string): Record<string, string> {
  const listed = connectionListed(headers);
  const out: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (!NOT_DOWN.has(name) && !NOT_DOWN_NAMES.test(name) && !listed.has(name)) out[name] = scrub(value);
  }
  // The answer is another server's, so no browser may treat it as a page of this origin.
  out["content-security-policy"] = "sandbox; default-src 'none'";
  out["x-content-type-options"] = "nosniff";
  if (/html|xml|svg/i.test(out["content-type"] ?? "")) out["content-disposition"] = "attachment";
  return out;
}

function connectionListed(headers: Headers): ReadonlySet<string> {
  const listed = headers.get("connection") ?? "";
  return new Set(listed.split(",").map((name) => name.trim().toLowerCase()));
}
