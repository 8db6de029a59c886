// The OAuth endpoints: start, connect, callback, exchange and unlinking.

import { Elysia } from "elysia";
import { type BodyLimits, readJsonBody } from "../../http/body.ts";
import { cookiesOf } from "../../http/cookies.ts";
import type { Accounts } from "../accounts.ts";
import { clientOf } from "../client.ts";
import { requiredText } from "../fields.ts";
import type { Onward } from "./flow.ts";
import { COOKIE_SECONDS, cookieOf, isSecure, type PlaceDeps, placeOf } from "./place.ts";

export interface OAuthRoutesDeps extends PlaceDeps {
  readonly accounts: Pick<Accounts, "authenticate" | "oauth">;
}

const BODY_LIMITS: BodyLimits = { maxBytes: 64 * 1024 };
const NO_STORE = { "cache-control": "no-store" };

/** Everything under /v1/auth/oauth. */
export function oauthRoutes({ accounts, ...deps }: OAuthRoutesDeps) {
  const { oauth } = accounts;
  const cookie = (request: Request, onward: Onward, seconds: number): string =>
    cookieOf(onward, { seconds, secure: isSecure(request, deps) });
  const redirect = (request: Request, onward: Onward, seconds: number): Response => {
    const headers = { ...NO_STORE, location: onward.location, "set-cookie": cookie(request, onward, seconds) };
    return new Response(null, { status: 302, headers });
  };
  return new Elysia()
    .get("/v1/auth/oauth/:provider/start", async ({ request, params }) => {
      const onward = await oauth.begin({
        slug: params.provider,
        ...askedOf(request),
        place: placeOf(request, deps),
        client: clientOf(request),
      });
      return redirect(request, onward, COOKIE_SECONDS);
    })
    .get("/v1/auth/oauth/:provider/connect/start", async ({ request, params }) => {
      const who = await accounts.authenticate(request);
      const onward = await oauth.begin({
        slug: params.provider,
        ...askedOf(request),
        who,
        place: placeOf(request, deps),
        client: clientOf(request),
      });
      if (!wantsJson(request)) return redirect(request, onward, COOKIE_SECONDS);
      const headers = { ...NO_STORE, "set-cookie": cookie(request, onward, COOKIE_SECONDS) };
      return Response.json({ authorization_url: onward.location }, { headers });
    })
    .get("/v1/auth/oauth/:provider/callback", async ({ request, params }) => {
      const onward = await oauth.comeBack({
        slug: params.provider,
        search: searchOf(request.url),
        browserCookies: isBrowser(request) ? cookiesOf(request) : undefined,
        place: placeOf(request, deps),
        client: clientOf(request),
      });
      return redirect(request, onward, 0);
    })
    .post(
      "/v1/auth/oauth/exchange",
      async ({ request }) => {
        const { body } = await readJsonBody(request, BODY_LIMITS);
        const code = requiredText(body, "code");
        const provider = requiredText(body, "provider");
        return Response.json(await oauth.exchange({ code, provider }, clientOf(request)), { headers: NO_STORE });
      },
      { parse: "none" },
    )
    .delete(
      "/v1/auth/oauth/:provider",
      async ({ request, params }) => {
        const { account } = await accounts.authenticate(request);
        await oauth.unlink(account, params.provider, clientOf(request));
        return Response.json({ success: true }, { headers: NO_STORE });
      },
      { parse: "none" },
    );
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
