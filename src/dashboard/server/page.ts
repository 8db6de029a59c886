// The one HTML page and the files it loads, with headers that let a browser run only those files.

import { noEndpoint } from "../../http/errors.ts";
import { takesGzip } from "../../http/packed.ts";
import { BASE, type Boot } from "../contract.ts";
import { pageAt } from "../contract-pages.ts";
import type { Bundle } from "./bundle.ts";

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const SAFE_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
} as const;

/** Headers of everything below the dashboard's path. */
export function safeHeaders({ secure }: { readonly secure: boolean }): Record<string, string> {
  // Left out over plain HTTP, where browsers ignore it and log a warning on every page.
  return secure ? { ...SAFE_HEADERS, "cross-origin-opener-policy": "same-origin" } : SAFE_HEADERS;
}

/** The page, with status 404 where the path has none, which the page itself then reports. */
export function htmlPage(
  path: string,
  bundle: Bundle,
  { boot, theme }: { boot: Boot; theme: string | undefined },
): Response {
  const status = pageAt(path.slice(BASE.length)) === undefined ? 404 : 200;
  const asset = (name: string) => `${BASE}/assets/${name}`;
  // Only these characters could end a script element or begin a comment in it.
  // The theme that the reader chose; without a choice the system's own.
  const chosen = theme === "light" || theme === "dark" ? ` data-theme="${theme}"` : "";
  const data = JSON.stringify(boot).replaceAll("<", "\\u003c");
  const html = `<!doctype html>
<html lang="en"${chosen}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sallyport</title>
<link rel="icon" href="${asset(bundle.icon)}" type="image/svg+xml">
<link rel="stylesheet" href="${asset(bundle.style)}">
<script type="module" src="${asset(bundle.script)}"></script>
<script type="application/json" id="boot">${data}</script>
</head>
<body>
<div id="app"></div>
<noscript>The dashboard needs JavaScript.</noscript>
</body>
</html>
`;
  return new Response(html, {
    status,
    headers: { "content-type": "text/html; charset=utf-8" },
  });
}

/** One of the files, cacheable forever since its name changes with its content. Throws `ApiError` 404. */
export async function assetFile(request: Request, bundle: Bundle, name: string): Promise<Response> {
  const file = bundle.files.get(name);
  if (file === undefined) throw noEndpoint(request);
  const packed = await file.bytes();
  const isPacked = takesGzip(request);
  const body = isPacked ? packed : Bun.gunzipSync(packed as Uint8Array<ArrayBuffer>);
  return new Response(body as Uint8Array<ArrayBuffer>, {
    headers: {
      "content-type": file.type,
      "cache-control": "public, max-age=31536000, immutable",
      vary: "Accept-Encoding",
      ...(isPacked ? { "content-encoding": "gzip" } : {}),
    },
  });
}
