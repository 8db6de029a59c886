// The current page: the address below /dashboard. Links are ordinary links, so that they can be opened in a new tab.

import { signal } from "@preact/signals";
import { BASE } from "../contract.ts";

/** The path below /dashboard, such as `/keys`; `/` is the start page. */
export const path = signal(pathNow());

/** The query of the address. */
export const query = signal(new URLSearchParams(location.search));

/** Shows another page; `to` is a path below /dashboard. */
export function navigate(to: string, { replace = false }: { replace?: boolean } = {}): void {
  const url = hrefOf(to);
  if (replace) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  arrive();
  if (!replace) scrollTo(0, 0);
}

/** The `href` of a link to a page. */
export function hrefOf(to: string): string {
  return to === "/" ? BASE : BASE + to;
}

/**
 * A page of the dashboard to continue to, from untrusted text; `/` for anything else. Names in the path, such as those
 * of models, may contain dots and percent signs; the query contains the selection.
 */
export function safeNext(next: string | null): string {
  return next !== null && /^\/[a-z](?!.*(?:\.\.|\/\/))[\w/.%~-]*(?:\?[\w.%~=&+*-]*)?$/.test(next) ? next : "/";
}

addEventListener("popstate", arrive);
document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return;
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (
    !(link instanceof HTMLAnchorElement) ||
    link.target !== "" ||
    link.download !== "" ||
    link.origin !== location.origin
  )
    return;
  if (link.pathname !== BASE && !link.pathname.startsWith(`${BASE}/`)) return;
  event.preventDefault();
  if (link.href === location.href) return;
  navigate(link.pathname.slice(BASE.length) + link.search || "/");
});

function arrive(): void {
  query.value = new URLSearchParams(location.search);
  path.value = pathNow();
}

function pathNow(): string {
  return location.pathname.slice(BASE.length).replace(/\/+$/, "") || "/";
}
