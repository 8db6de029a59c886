// The account endpoints under /v1/auth. Authentication comes before the body is read: 401 before 400.

import { Elysia } from "elysia";
import { ApiError } from "../base/errors.ts";
import { sha256Hex } from "../base/ids.ts";
import { type BodyLimits, readJsonBody } from "../http/body.ts";
import type { Accounts } from "./accounts.ts";
import { clientOf } from "./client.ts";
import { optionalText, requiredText } from "./fields.ts";
import { type OAuthRoutesDeps, oauthRoutes } from "./oauth/routes.ts";

/** No account body is nearly as large. */
const BODY_LIMITS: BodyLimits = { maxBytes: 64 * 1024 };

/** Tokens and profiles must not be cached. */
const NO_STORE = { "cache-control": "no-store" };

export interface AccountRoutesDeps extends Omit<OAuthRoutesDeps, "accounts"> {
  readonly accounts: Accounts;
}

/** Everything under /v1/auth. */
export function accountRoutes(deps: AccountRoutesDeps) {
  const { accounts } = deps;
  return new Elysia()
    .use(tokenRoutes(accounts))
    .use(mailRoutes(accounts))
    .use(sessionRoutes(accounts))
    .use(oauthRoutes(deps));
}

/** Sign-in, profile, refresh, logout and deletion. */
function tokenRoutes(accounts: Accounts) {
  return new Elysia()
    .post(
      "/v1/auth/token",
      async ({ request }) => {
        const { body } = await readJsonBody(request, BODY_LIMITS);
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
        const { body } = await readJsonBody(request, BODY_LIMITS);
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
          : optionalText((await readJsonBody(request, BODY_LIMITS)).body, "refresh_token");
        await accounts.logout(who, token === undefined ? undefined : sha256Hex(token), clientOf(request));
        return answer({ success: true });
      },
      { parse: "none" },
    );
}

/** Actions that a mail confirms: verifying addresses and resetting passwords. */
function mailRoutes({ authenticate, verification, passwordReset }: Accounts) {
  return new Elysia()
    .post(
      "/v1/auth/email-verification/send-code",
      async ({ request }) => {
        const { account } = await authenticate(request);
        return answer(await verification.sendCode(account));
      },
      { parse: "none" },
    )
    .post(
      "/v1/auth/email-verification/verify-code",
      async ({ request }) => {
        const { account } = await authenticate(request);
        const { body } = await readJsonBody(request, BODY_LIMITS);
        return answer(await verification.verifyCode(account, requiredText(body, "code"), clientOf(request)));
      },
      { parse: "none" },
    )
    .post(
      "/v1/auth/password-reset/request",
      async ({ request }) => {
        const { body } = await readJsonBody(request, BODY_LIMITS);
        await passwordReset.request(requiredText(body, "email"), clientOf(request));
        return answer({ success: true });
      },
      { parse: "none" },
    )
    .post(
      "/v1/auth/password-reset/confirm",
      async ({ request }) => {
        const { body } = await readJsonBody(request, BODY_LIMITS);
        const token = requiredText(body, "token");
        const password = requiredText(body, "password");
        await passwordReset.confirm({ token, password }, clientOf(request));
        return answer({ success: true });
      },
      { parse: "none" },
    );
}

/** The account's sessions, its password and its audit log. */
function sessionRoutes(accounts: Accounts) {
  return new Elysia()
    .post(
      "/v1/auth/password",
      async ({ request }) => {
        const who = await accounts.authenticate(request);
        const { body } = await readJsonBody(request, BODY_LIMITS);
        const current = requiredText(body, "current_password");
        await accounts.changePassword(who, { current, next: requiredText(body, "password") }, clientOf(request));
        return answer({ success: true });
      },
      { parse: "none" },
    )
    .get("/v1/auth/sessions", async ({ request }) => {
      const who = await accounts.authenticate(request);
      return answer({ object: "list", data: await accounts.sessions(who) });
    })
    .delete(
      "/v1/auth/sessions",
      async ({ request, query }) => {
        const who = await accounts.authenticate(request);
        const keepCurrent = query["keep_current"] === "true";
        const ended = await accounts.endAllSessions(who, { keepCurrent, client: clientOf(request) });
        return answer({ success: true, ended });
      },
      { parse: "none" },
    )
    .delete(
      "/v1/auth/sessions/:id",
      async ({ request, params }) => {
        const who = await accounts.authenticate(request);
        await accounts.endSession(who, params.id, clientOf(request));
        return answer({ success: true });
      },
      { parse: "none" },
    )
    .get("/v1/auth/audit", async ({ request, query }) => {
      const { account } = await accounts.authenticate(request);
      const [limit, beforeId] = [countParam(query, "limit"), countParam(query, "before")];
      const data = await accounts.audit(account.id, {
        ...(limit === undefined ? {} : { limit }),
        ...(beforeId === undefined ? {} : { beforeId }),
      });
      return answer({ object: "list", data });
    });
}

function countParam(query: Record<string, string | undefined>, param: string): number | undefined {
  const text = query[param];
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,14}$/.test(text)) {
    throw new ApiError("invalid_request", `${param} must be a whole number above 0.`, { param });
  }
  return Number(text);
}

function answer(body: unknown): Response {
  return Response.json(body, { headers: NO_STORE });
}

function isEmpty(request: Request): boolean {
  return request.body === null || request.headers.get("content-length") === "0";
}
