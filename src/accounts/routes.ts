// The account endpoints under /v1/auth. Authentication comes before the body is read: 401 before 400.

import { ApiError } from "../base/errors.ts";
import { sha256Hex } from "../base/ids.ts";
import { type BodyLimits, readJsonBody } from "../http/body.ts";
import { openEndpoint, type ServedEndpoint } from "../http/served-endpoint.ts";
import { clientOf } from "./client.ts";
import { type AccountRoutesDeps, accountText, NO_STORE, signedIn } from "./endpoints.ts";
import { optionalText, requiredText } from "./fields.ts";
import { OAUTH_ENDPOINTS } from "./oauth/routes.ts";

/** No account body is nearly as large. */
const BODY_LIMITS: BodyLimits = { maxBytes: 64 * 1024 };

/** Sign-in, profile, refresh, logout and deletion. */
const TOKEN_ENDPOINTS: readonly ServedEndpoint<AccountRoutesDeps>[] = [
  openEndpoint("POST", "/v1/auth/token", {
    describe: accountText("signIn"),
    handle: async ({ accounts }, { request }) => {
      const { body } = await readJsonBody(request, BODY_LIMITS);
      const login = requiredText(body, "username_or_email", "username", "email");
      const password = requiredText(body, "password");
      const client = clientOf(request);
      const account = await accounts.signIn({ login, password }, client);
      return answer(await accounts.pairs.start(account.id, client));
    },
  }),
  openEndpoint("POST", "/v1/auth/refresh", {
    describe: accountText("refreshTokens"),
    handle: async ({ accounts }, { request }) => {
      const { body } = await readJsonBody(request, BODY_LIMITS);
      return answer(await accounts.pairs.refresh(requiredText(body, "refresh_token"), clientOf(request)));
    },
  }),
  signedIn("POST", "/v1/auth/logout", {
    describe: accountText("logOut"),
    handle: async ({ accounts }, { request, caller }) => {
      const token = isEmpty(request)
        ? undefined
        : optionalText((await readJsonBody(request, BODY_LIMITS)).body, "refresh_token");
      await accounts.logout(caller, token === undefined ? undefined : sha256Hex(token), clientOf(request));
      return answer({ success: true });
    },
  }),
  signedIn("GET", "/v1/auth/me", {
    describe: accountText("getProfile"),
    handle: async ({ accounts }, { caller }) => answer(await accounts.profile(caller.account)),
  }),
  signedIn("DELETE", "/v1/auth/me", {
    describe: accountText("deleteAccount"),
    handle: async ({ accounts }, { caller }) => {
      await accounts.deleteAccount(caller.account.id);
      return answer({ success: true });
    },
  }),
];

/** Actions that a mail confirms: verifying addresses and resetting passwords; and the password's change. */
const PROOF_ENDPOINTS: readonly ServedEndpoint<AccountRoutesDeps>[] = [
  signedIn("POST", "/v1/auth/email-verification/send-code", {
    describe: accountText("sendVerificationCode"),
    handle: async ({ accounts }, { caller }) => answer(await accounts.verification.sendCode(caller.account)),
  }),
  signedIn("POST", "/v1/auth/email-verification/verify-code", {
    describe: accountText("verifyEmail"),
    handle: async ({ accounts }, { request, caller }) => {
      const { body } = await readJsonBody(request, BODY_LIMITS);
      const code = requiredText(body, "code");
      return answer(await accounts.verification.verifyCode(caller.account, code, clientOf(request)));
    },
  }),
  openEndpoint("POST", "/v1/auth/password-reset/request", {
    describe: accountText("requestPasswordReset"),
    handle: async ({ accounts }, { request }) => {
      const { body } = await readJsonBody(request, BODY_LIMITS);
      await accounts.passwordReset.request(requiredText(body, "email"), clientOf(request));
      return answer({ success: true });
    },
  }),
  openEndpoint("POST", "/v1/auth/password-reset/confirm", {
    describe: accountText("confirmPasswordReset"),
    handle: async ({ accounts }, { request }) => {
      const { body } = await readJsonBody(request, BODY_LIMITS);
      const token = requiredText(body, "token");
      const password = requiredText(body, "password");
      await accounts.passwordReset.confirm({ token, password }, clientOf(request));
      return answer({ success: true });
    },
  }),
  signedIn("POST", "/v1/auth/password", {
    describe: accountText("changePassword"),
    handle: async ({ accounts }, { request, caller }) => {
      const { body } = await readJsonBody(request, BODY_LIMITS);
      const current = requiredText(body, "current_password");
      await accounts.changePassword(caller, { current, next: requiredText(body, "password") }, clientOf(request));
      return answer({ success: true });
    },
  }),
];

/** The account's sessions and its audit log. */
const SESSION_ENDPOINTS: readonly ServedEndpoint<AccountRoutesDeps>[] = [
  signedIn("GET", "/v1/auth/sessions", {
    describe: accountText("listSessions"),
    handle: async ({ accounts }, { caller }) => answer({ object: "list", data: await accounts.sessions(caller) }),
  }),
  signedIn("DELETE", "/v1/auth/sessions", {
    describe: accountText("endSessions"),
    handle: async ({ accounts }, { request, caller }) => {
      const keepCurrent = queryOf(request).get("keep_current") === "true";
      const ended = await accounts.endAllSessions(caller, { keepCurrent, client: clientOf(request) });
      return answer({ success: true, ended });
    },
  }),
  signedIn("DELETE", "/v1/auth/sessions/:id", {
    describe: accountText("endSession"),
    handle: async ({ accounts }, { request, params, caller }) => {
      await accounts.endSession(caller, params.id, clientOf(request));
      return answer({ success: true });
    },
  }),
  signedIn("GET", "/v1/auth/audit", {
    describe: accountText("listAudit"),
    handle: async ({ accounts }, { request, caller }) => {
      const query = queryOf(request);
      const [limit, beforeId] = [countParam(query, "limit"), countParam(query, "before")];
      const data = await accounts.audit(caller.account.id, {
        ...(limit === undefined ? {} : { limit }),
        ...(beforeId === undefined ? {} : { beforeId }),
      });
      return answer({ object: "list", data });
    },
  }),
];

/** Everything under /v1/auth. */
export const ACCOUNT_ENDPOINTS: readonly ServedEndpoint<AccountRoutesDeps>[] = [
  ...TOKEN_ENDPOINTS,
  ...PROOF_ENDPOINTS,
  ...SESSION_ENDPOINTS,
  ...OAUTH_ENDPOINTS,
];

function queryOf(request: Request): URLSearchParams {
  return new URL(request.url).searchParams;
}

function countParam(query: URLSearchParams, param: string): number | undefined {
  const text = query.get(param);
  if (text === null) return undefined;
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
