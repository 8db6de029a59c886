// The address at which a sign-in begins and ends, as the request sees it, and the cookie of the round trip.

import { exchangeOf } from "../../http/exchange.ts";
import type { Onward, ServiceAddress } from "./flow.ts";

/** What is configured of our own addresses. */
export interface PlaceDeps {
  /** `server.public_url` and `server.dashboard_url` as configured; empty where they are not. */
  urls(): { readonly publicUrl: string; readonly dashboardUrl: string };
  /** Where the server listens, for requests that do not say how they reached it. */
  listeningUrl(): string;
}

/** Time to sign in at the provider. */
export const COOKIE_SECONDS = 600;

/** Where the service is reached. An empty `public_url` means the request's own origin, else the listening address. */
export function placeOf(request: Request, deps: PlaceDeps): ServiceAddress {
  const { publicUrl, dashboardUrl } = deps.urls();
  const baseUrl = (publicUrl || originOf(request) || deps.listeningUrl()).replace(/\/+$/, "");
  return { baseUrl, dashboardUrl: dashboardUrl || `${baseUrl}/dashboard` };
}

function originOf(request: Request): string {
  // Without a Host header there is only a path.
  if (!URL.canParse(request.url)) return "";
  const { host } = new URL(request.url);
  return `${exchangeOf(request).secure ? "https" : "http"}://${host}`;
}

/** Do browsers reach us by HTTPS? Behind a proxy that is not trusted only the configuration says so. */
export function isSecure(request: Request, { urls }: Pick<PlaceDeps, "urls">): boolean {
  const { publicUrl, dashboardUrl } = urls();
  return exchangeOf(request).secure || [publicUrl, dashboardUrl].some((url) => url.startsWith("https:"));
}

/** The cookie that binds a sign-in to the browser that began it; 0 seconds deletes it. */
export function cookieOf({ cookie }: Onward, { seconds, secure }: { seconds: number; secure: boolean }): string {
  const value = seconds === 0 ? "" : cookie.value;
  // Lax, not Strict: the provider's redirect must bring it along.
  return `${cookie.name}=${value}; Path=/v1/auth/oauth; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
}
