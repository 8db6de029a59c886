// How MCP servers are reached whose addresses clients name: as everything else that clients name, through the guard, and without
// following redirects, since the client's credentials are for that address alone. Wiring only.

import type { Config } from "../config/schema.ts";
import type { ServerFetch } from "../mcp/servers/connection.ts";
import { createAddressGuard } from "../net/address-guard.ts";
import { createFetch } from "../net/fetch.ts";
import { createResolve } from "../net/resolve.ts";

const BYTES_MAX = 16 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

/** The fetch for such servers, with the guard of the current configuration. */
export function fetchNamed(web: Config["web"]): ServerFetch {
  const fetch = createFetch(createAddressGuard(web, createResolve(web.dns)));
  return async (url, { method = "GET", headers, body, signal } = {}) => {
    // Streams without an end are not read; servers need none for calls.
    if (method !== "POST") return new Response(null, { status: 405 });
    const fetched = await fetch(String(url), {
      method: "POST",
      callerHeaders: Object.fromEntries(new Headers(headers)),
      body: String(body),
      bytesMax: BYTES_MAX,
      timeoutMs: TIMEOUT_MS,
      signal: signal ?? undefined,
      redirectsMax: 0,
      purpose: "webhook",
    });
    const hasBody = fetched.status >= 200 && fetched.status !== 204 && fetched.status !== 205 && fetched.status !== 304;
    return new Response(hasBody ? (fetched.body as Uint8Array<ArrayBuffer>) : null, {
      status: fetched.status,
      headers: fetched.headers,
    });
  };
}
