// The account endpoints under /v1/auth. Who may ask is settled before the body is read: 401 comes before 400.

import { Elysia } from "elysia";
import { sha256Hex } from "../base/ids.ts";
import { type BodyLimits, readJson } from "../http/body.ts";
import { exchangeOf } from "../http/exchange.ts";
import type { Accounts } from "./accounts.ts";
import type { Client } from "./client.ts";
import { optionalText, requiredText } from "./fields.ts";

/** No account body is larger by far. */
const BODY_LIMITS: BodyLimits = { maxBytes: 64 * 1024 };

/** Tokens and profiles belong in no cache. */
const NO_STORE = { "cache-control": "no-store" };

/** Sign-in, profile, refresh and logout. */
export function accountRoutes(accounts: Accounts) {
  return new Elysia()
    .post(
      "/v1/auth/token",
      async ({ request }) => {
        const { body } = await readJson(request, BODY_LIMITS);
        const login = requiredText(body, "username_or_email", "username", "email");
        const password = requiredText(body, "password");
        const client = clientOf(request);
        const account = await accounts.signIn({ login, password }, client);
        return answer(await accounts.pairs.start(account.id, client));
      },
      { parse: "none" },
    )
    .get("/v1/auth/me", async ({ request }) => {
      const { account } = await accounts.authenticate(request);
      return answer(await accounts.profile(account));
    })
    .delete(
      "/v1/auth/me",
      async ({ request }) => {
        const { account } = await accounts.authenticate(request);
        await accounts.deleteAccount(account.id);
        return answer({ success: true });
      },
      { parse: "none" },
    )
    .post(
      "/v1/auth/refresh",
      async ({ request }) => {
        const { body } = await readJson(request, BODY_LIMITS);
        return answer(await accounts.pairs.refresh(requiredText(body, "refresh_token"), clientOf(request)));
      },
      { parse: "none" },
    )
    .post(
      "/v1/auth/logout",
      async ({ request }) => {
        const who = await accounts.authenticate(request);
        const token = isEmpty(request)
          ? undefined
          : optionalText((await readJson(request, BODY_LIMITS)).body, "refresh_token");
        await accounts.logout(who, token === undefined ? undefined : sha256Hex(token), clientOf(request));
        return answer({ success: true });
      },
      { parse: "none" },
    );
}

function answer(body: unknown): Response {
  return Response.json(body, { headers: NO_STORE });
}

function isEmpty(request: Request): boolean {
  return request.body === null || request.headers.get("content-length") === "0";
}

/** Who asks, for the session list and the audit log. */
function clientOf(request: Request): Client {
  return { address: exchangeOf(request).address, userAgent: request.headers.get("user-agent") ?? "" };
}
