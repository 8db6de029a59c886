// The OAuth endpoints: start, connect, callback, exchange and unlinking.

import { type BodyLimits, readJsonBody } from "../../http/body.ts";
import { cookiesOf } from "../../http/cookies.ts";
import { openEndpoint, type ServedEndpoint } from "../../http/served-endpoint.ts";
import { clientOf } from "../client.ts";
import { type AccountRoutesDeps, accountText, NO_STORE, signedIn } from "../endpoints.ts";
import { requiredText } from "../fields.ts";
import type { Onward } from "./flow.ts";
import { COOKIE_SECONDS, cookieOf, isSecure, type PlaceDeps, placeOf } from "./place.ts";

const BODY_LIMITS: BodyLimits = { maxBytes: 64 * 1024 };

/** Everything under /v1/auth/oauth. */
export const OAUTH_ENDPOINTS: readonly ServedEndpoint<AccountRoutesDeps>[] = [
  openEndpoint("GET", "/v1/auth/oauth/:provider/start", {
    describe: accountText("startOauth"),
    handle: async (deps, { request, params }) => {
      const onward = await deps.accounts.oauth.begin({
        slug: params.provider,
        ...askedOf(request),
        place: placeOf(request, deps),
        client: clientOf(request),
      });
      return redirect(request, deps, { onward, seconds: COOKIE_SECONDS });
    },
  }),
  signedIn("GET", "/v1/auth/oauth/:provider/connect/start", {
    describe: accountText("startOauthConnect"),
    handle: async (deps, { request, params, caller: who }) => {
      const onward = await deps.accounts.oauth.begin({
        slug: params.provider,
        ...askedOf(request),
        who,
        place: placeOf(request, deps),
        client: clientOf(request),
      });
      const sent = { onward, seconds: COOKIE_SECONDS };
      if (!wantsJson(request)) return redirect(request, deps, sent);
      const headers = { ...NO_STORE, "set-cookie": cookie(request, deps, sent) };
      return Response.json({ authorization_url: onward.location }, { headers });
    },
  }),
  openEndpoint("GET", "/v1/auth/oauth/:provider/callback", {
    describe: accountText("oauthCallback"),
    handle: async (deps, { request, params }) => {
      const onward = await deps.accounts.oauth.comeBack({
        slug: params.provider,
        search: searchOf(request.url),
        browserCookies: isBrowser(request) ? cookiesOf(request) : undefined,
        place: placeOf(request, deps),
        client: clientOf(request),
      });
      return redirect(request, deps, { onward, seconds: 0 });
    },
  }),
  openEndpoint("POST", "/v1/auth/oauth/exchange", {
    describe: accountText("exchangeOauthCode"),
    handle: async ({ accounts }, { request }) => {
      const { body } = await readJsonBody(request, BODY_LIMITS);
      const code = requiredText(body, "code");
      const provider = requiredText(body, "provider");
      return Response.json(await accounts.oauth.exchange({ code, provider }, clientOf(request)), { headers: NO_STORE });
    },
  }),
  signedIn("DELETE", "/v1/auth/oauth/:provider", {
    describe: accountText("unlinkOauth"),
    handle: async ({ accounts }, { request, params, caller }) => {
      await accounts.oauth.unlink(caller.account, params.provider, clientOf(request));
      return Response.json({ success: true }, { headers: NO_STORE });
    },
  }),
];

/** Where a browser goes on, with the cookie of its sign-in for this many seconds. */
interface Sent {
  readonly onward: Onward;
  readonly seconds: number;
}

function cookie(request: Request, deps: PlaceDeps, { onward, seconds }: Sent): string {
  return cookieOf(onward, { seconds, secure: isSecure(request, deps) });
}

function redirect(request: Request, deps: PlaceDeps, sent: Sent): Response {
  const headers = { ...NO_STORE, location: sent.onward.location, "set-cookie": cookie(request, deps, sent) };
  return new Response(null, { status: 302, headers });
}

/** The first value of each parameter. A repeated one could be checked with one value and used with another. */
function askedOf(request: Request): { redirectUri: string | undefined; clientState: string | undefined } {
  const query = new URLSearchParams(searchOf(request.url));
  return { redirectUri: query.get("redirect_uri") ?? undefined, clientState: query.get("state") ?? undefined };
}

function searchOf(url: string): string {
  const [whole = ""] = url.split("#");
  const at = whole.indexOf("?");
  return at < 0 ? "" : whole.slice(at);
}

/** Prevents cross-site requests: browsers send this header, and a page cannot forge it. */
function isBrowser(request: Request): boolean {
  return request.headers.has("sec-fetch-mode") || /^mozilla\//i.test(request.headers.get("user-agent") ?? "");
}

function wantsJson(request: Request): boolean {
  return /\bapplication\/json\b/i.test(request.headers.get("accept") ?? "");
}
