// The address of a sign-in round trip, as the request sees it, and its cookie.

import { exchangeOf } from "../../http/exchange.ts";
import type { Onward, ServiceAddress } from "./flow.ts";

/** The configured addresses. */
export interface PlaceDeps {
  /** `server.public_url` and `server.dashboard_url`; empty if not configured. */
  urls(): { readonly publicUrl: string; readonly dashboardUrl: string };
  /** The listening address, for requests without a Host. */
  listeningUrl(): string;
}

/** Time to sign in at the provider. */
export const COOKIE_SECONDS = 600;

/** The service's address. With an empty `public_url` it is the request's own origin, else the listening address. */
export function placeOf(request: Request, deps: PlaceDeps): ServiceAddress {
  const { publicUrl, dashboardUrl } = deps.urls();
  const baseUrl = (publicUrl || originOf(request) || deps.listeningUrl()).replace(/\/+$/, "");
  return { baseUrl, dashboardUrl: dashboardUrl || `${baseUrl}/dashboard` };
}

function originOf(request: Request): string {
  // Without a Host header only the path is known.
  if (!URL.canParse(request.url)) return "";
  const { host } = new URL(request.url);
  return `${exchangeOf(request).secure ? "https" : "http"}://${host}`;
}

/** Whether browsers use HTTPS. Behind an untrusted proxy only the configuration says so. */
export function isSecure(request: Request, { urls }: Pick<PlaceDeps, "urls">): boolean {
  const { publicUrl, dashboardUrl } = urls();
  return exchangeOf(request).secure || [publicUrl, dashboardUrl].some((url) => url.startsWith("https:"));
}

/** The cookie that binds a sign-in to the browser that started it; 0 seconds deletes it. */
export function cookieOf({ cookie }: Onward, { seconds, secure }: { seconds: number; secure: boolean }): string {
  const value = seconds === 0 ? "" : cookie.value;
  // Lax, not Strict: the provider's redirect must include it.
  return `${cookie.name}=${value}; Path=/v1/auth/oauth; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
}
