// The frame of every documentation page, and its headers: it only loads the files that it names, and sends requests to
// this gateway only.

import icon from "../../http/icon.svg" with { type: "text" };
import { packedResponse } from "../../http/packed.ts";
import style from "./page.docs.css" with { type: "text" };
import client from "./try.client.js" with { type: "text" };

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};

/** A file that pages load, under a name that depends on its content. */
function asset(name: string, ending: string, type: string, text: string) {
  return { name: `${name}-${Bun.hash(text).toString(36)}.${ending}`, type: `${type}; charset=utf-8`, text };
}

const STYLE = asset("docs", "css", "text/css", style);
const ICON = asset("icon", "svg", "image/svg+xml", icon);
const SCRIPT = asset("try", "js", "text/javascript", client);

/** An entry of the menu. */
export interface MenuGroup {
  readonly title: string;
  readonly entries: readonly { readonly href: string; readonly title: string }[];
}

/** The content of the frame. */
export interface PageContent {
  readonly title: string;
  /** Trusted: generated here from our own texts. */
  readonly html: string;
  /** Its address, to mark it in the menu. */
  readonly path: string;
}

/** The whole page. */
export function pageHtml({ title, html, path }: PageContent, menu: readonly MenuGroup[]): string {
  const groups = menu.map(
    (group) => `<h2>${group.title}</h2><ul>${group.entries.map((entry) => menuEntry(entry, path)).join("")}</ul>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${Bun.escapeHTML(title)} · Sallyport</title>
<link rel="icon" href="/docs/assets/${ICON.name}" type="image/svg+xml">
<link rel="stylesheet" href="/docs/assets/${STYLE.name}">
<script src="/docs/assets/${SCRIPT.name}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header><a class="brand" href="/docs">Sallyport</a><a class="to-menu" href="#menu">Contents</a><a href="/openapi.json">OpenAPI</a><a href="/dashboard">Dashboard</a></header>
<div class="frame">
<nav id="menu" aria-label="Documentation" tabindex="-1">${groups.join("")}</nav>
<main id="content" tabindex="-1">
${html}
</main>
</div>
</body>
</html>
`;
}

function menuEntry({ href, title }: { href: string; title: string }, path: string): string {
  const current = href === path ? ' aria-current="page"' : "";
  return `<li><a href="${href}"${current}>${Bun.escapeHTML(title)}</a></li>`;
}

/** A page as a response; compressed if the browser supports it. */
export function pageResponse(request: Request, html: string, status = 200): Response {
  return packed(request, html, { status, type: "text/html; charset=utf-8", cache: "no-cache" });
}

/** A file that pages load; undefined if there is none of that name. */
export function assetResponse(request: Request, name: string): Response | undefined {
  const found = [STYLE, SCRIPT, ICON].find((one) => one.name === name);
  if (found === undefined) return undefined;
  const cache = "public, max-age=31536000, immutable";
  return packed(request, found.text, { status: 200, type: found.type, cache });
}

function packed(
  request: Request,
  text: string,
  { status, type, cache }: { status: number; type: string; cache: string },
): Response {
  return packedResponse(request, text, {
    status,
    headers: { ...HEADERS, "content-type": type, "cache-control": cache },
  });
}
