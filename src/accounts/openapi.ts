// The descriptions of the account endpoints, for the documentation alone. Accounts are created in the dashboard; there is no endpoint for that.

import { type TProperties, type TSchema, Type } from "@sinclair/typebox";
import type { ErrorCode } from "../base/errors.ts";
import { TIER_IDS } from "../config/schema-server.ts";
import { type ApiParameter, oneOf, orNull, pathId } from "../http/endpoint.ts";
import type { NamelessText } from "../http/served-endpoint.ts";
import { CHARS_MAX } from "./fields.ts";
import { PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN } from "./passwords/passwords.ts";

const text = (description: string) => Type.String({ minLength: 1, maxLength: CHARS_MAX, description });

/** A new password. */
const newPassword = () =>
  Type.String({
    minLength: PASSWORD_CHARS_MIN,
    maxLength: PASSWORD_CHARS_MAX,
    description: "The new password. The most common passwords are refused.",
  });

const SUCCESS = Type.Object({ success: Type.Literal(true) }, { $id: "Success" });

const PAIR = Type.Object(
  {
    access_token: Type.String({ description: "For the endpoints of accounts. Short-lived." }),
    refresh_token: Type.String({ description: "Returns the next pair of tokens, once." }),
    token_type: Type.Literal("bearer"),
    expires_in: Type.Integer({ description: "Seconds until the access token expires." }),
  },
  { $id: "TokenPair" },
);

interface Told {
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly ApiParameter[];
  readonly body?: {
    readonly name: string;
    readonly members: TProperties;
    readonly example: unknown;
    readonly required?: boolean;
  };
  readonly schema?: TSchema;
  readonly answer?: string;
  readonly redirects?: boolean;
  readonly errors?: readonly ErrorCode[];
}

function told({ summary, description, parameters, body, ...rest }: Told): NamelessText {
  const { schema = SUCCESS, errors } = rest;
  const answer = rest.redirects
    ? {
        ...{ status: 302, description: "Redirect.", headers: { Location: "The address of the redirect." } },
        instead: {
          description: rest.answer ?? "The page at the end of the redirects, for clients that follow them.",
          ...(rest.schema === undefined ? {} : { schema: rest.schema }),
        },
      }
    : { description: rest.answer ?? "Done.", schema };
  return {
    ...{ group: "Accounts", summary, description, answer },
    ...(parameters === undefined ? {} : { parameters }),
    ...(errors === undefined ? {} : { errors }),
    ...(body === undefined
      ? {}
      : {
          body: {
            schema: Type.Object(body.members, { $id: body.name, additionalProperties: true }),
            required: body.required ?? true,
            examples: { plain: body.example },
          },
        }),
  };
}

const TOKENS = {
  signIn: told({
    summary: "Sign in",
    description:
      "Name or e-mail address and password for a pair of tokens. After too many wrong tries 429, the right password too.",
    body: {
      name: "SignIn",
      members: { username_or_email: text("`username` and `email` are accepted too."), password: text("The password.") },
      example: { username_or_email: "tester", password: "correct horse battery staple" },
    },
    schema: PAIR,
    answer: "The pair.",
    errors: ["invalid_credentials", "too_many_attempts", "server_busy"],
  }),
  refreshTokens: told({
    summary: "Get the next pair of tokens",
    description:
      "Needs only the refresh token, which works once. One that was used before ends its whole session: 401 `refresh_token_reused`.",
    body: {
      name: "Refresh",
      members: { refresh_token: text("Of the last pair.") },
      example: { refresh_token: "rt_0000000000000000000000000000000000000000000" },
    },
    schema: PAIR,
    answer: "The pair.",
    errors: ["invalid_refresh_token", "expired_refresh_token", "refresh_token_reused"],
  }),
  logOut: told({
    summary: "Sign out",
    description:
      "Ends the session of the access token, or of the refresh token in the body. The access token works until it expires.",
    body: {
      name: "LogOut",
      members: { refresh_token: Type.Optional(text("Whose session to end.")) },
      example: {},
      required: false,
    },
  }),
  getProfile: told({
    summary: "Read your account",
    description: "The signed-in account.",
    answer: "The account.",
    schema: Type.Object(
      {
        id: Type.String(),
        username: Type.String(),
        email: Type.String(),
        email_verified: Type.Boolean(),
        tier: oneOf(TIER_IDS),
        trial_ends_at: orNull(Type.String()),
        oauth_providers: Type.Array(Type.String()),
        created_at: Type.String(),
        admin: Type.Boolean(),
      },
      { $id: "Profile" },
    ),
  }),
  deleteAccount: told({
    summary: "Delete your account",
    description: "At once and permanently, with the account's keys, threads, files, jobs, sessions and usage.",
  }),
};

const PROOFS = {
  sendVerificationCode: told({
    summary: "Mail a code to your address",
    description: "The code has six digits and is valid for ten minutes. One mail per minute.",
    answer: "The code was sent, or is not needed.",
    schema: Type.Object(
      {
        success: Type.Literal(true),
        expires_in: Type.Optional(Type.Integer({ description: "Seconds." })),
        already_verified: Type.Optional(Type.Literal(true)),
      },
      { $id: "CodeSent" },
    ),
    errors: ["code_recently_sent", "server_busy"],
  }),
  verifyEmail: told({
    summary: "Verify your address",
    description: "With the mailed code. Each code allows five attempts.",
    body: { name: "VerifyCode", members: { code: text("The six digits.") }, example: { code: "123456" } },
    answer: "The address is verified.",
    schema: Type.Object({ success: Type.Literal(true), email_verified: Type.Literal(true) }, { $id: "Verified" }),
    errors: ["invalid_code", "too_many_attempts"],
  }),
  requestPasswordReset: told({
    summary: "Mail a link to set a new password",
    description: "The answer is the same whether or not the account exists.",
    body: {
      name: "PasswordResetRequest",
      members: { email: text("The account's address.") },
      example: { email: "someone@example.com" },
    },
    errors: ["too_many_attempts", "server_busy"],
  }),
  confirmPasswordReset: told({
    summary: "Set a new password with the mailed link",
    description: "Ends all sessions of the account.",
    body: {
      name: "PasswordResetConfirm",
      members: { token: text("From the link."), password: newPassword() },
      example: { token: "0".repeat(43), password: "correct horse battery staple" },
    },
    errors: ["invalid_code", "too_many_attempts", "server_busy"],
  }),
  changePassword: told({
    summary: "Change your password",
    description: "Ends all other sessions.",
    body: {
      name: "PasswordChange",
      members: { current_password: text("The one you have."), password: newPassword() },
      example: { current_password: "correct horse battery staple", password: "another long enough phrase" },
    },
    errors: ["invalid_credentials", "too_many_attempts", "server_busy"],
  }),
};

const DEVICE = {
  device: Type.String({ description: "Browser and operating system, as far as they are known." }),
  address: Type.String(),
};

const SESSIONS = {
  listSessions: told({
    summary: "List your sessions",
    description: "Including those of the dashboard.",
    answer: "The sessions.",
    schema: Type.Object(
      {
        object: Type.Literal("list"),
        data: Type.Array(
          Type.Object(
            {
              id: Type.String(),
              ...DEVICE,
              user_agent: Type.String(),
              created_at: Type.String(),
              last_used_at: Type.String(),
              expires_at: Type.String(),
              current: Type.Boolean({ description: "Whether it is the session of this request." }),
            },
            { $id: "Session" },
          ),
        ),
      },
      { $id: "SessionList" },
    ),
  }),
  endSessions: told({
    summary: "End all sessions",
    description: "Their tokens are refused at once.",
    parameters: [
      {
        name: "keep_current",
        in: "query",
        schema: Type.Boolean({ default: false, description: "Keep the session of this request." }),
      },
    ],
    answer: "How many were ended.",
    schema: Type.Object({ success: Type.Literal(true), ended: Type.Integer() }, { $id: "SessionsEnded" }),
  }),
  endSession: told({
    summary: "End one session",
    description: "Its tokens are refused at once.",
    parameters: [pathId("id", "Id of the session.", "01a204b1-c159-7053-94b2-14d6bf6f3ad5")],
    errors: ["session_not_found"],
  }),
  listAudit: told({
    summary: "List the security events of your account",
    description: "Newest first; kept for a year.",
    parameters: [
      {
        name: "limit",
        in: "query",
        schema: Type.Integer({ minimum: 1, description: "Maximum number of entries, up to 200." }),
      },
      { name: "before", in: "query", schema: Type.Integer({ minimum: 1, description: "Entries older than this id." }) },
    ],
    answer: "The entries.",
    schema: Type.Object(
      {
        object: Type.Literal("list"),
        data: Type.Array(
          Type.Object(
            {
              id: Type.Integer(),
              event: Type.String(),
              ...DEVICE,
              detail: Type.Unknown({ description: "Further data of the event." }),
              created_at: Type.String(),
            },
            { $id: "AuditEntry" },
          ),
        ),
      },
      { $id: "AuditList" },
    ),
    errors: ["invalid_request"],
  }),
};

const PROVIDER = pathId("provider", "A configured sign-in provider, as `github`.", "github");
const ONWARD: readonly ApiParameter[] = [
  PROVIDER,
  {
    name: "redirect_uri",
    in: "query",
    schema: Type.String({
      description: "The address to return to: the dashboard, or an address that the operator allows.",
    }),
  },
  { name: "state", in: "query", schema: Type.String({ description: "Returned unchanged." }) },
];

const START_ERRORS = [
  "oauth_provider_not_found",
  "invalid_redirect_uri",
  "too_many_attempts",
  "server_busy",
  "provider_unavailable",
] as const;

const OAUTH = {
  startOauth: told({
    summary: "Sign in with another provider",
    description: "For browsers: redirects to the provider.",
    parameters: ONWARD,
    redirects: true,
    errors: START_ERRORS,
  }),
  startOauthConnect: told({
    summary: "Link another provider to your account",
    description:
      "Redirects to the provider. With `Accept: application/json` the answer is 200 `{authorization_url}` instead.",
    parameters: ONWARD,
    redirects: true,
    answer: "With `Accept: application/json`: where to go on.",
    schema: Type.Object({ authorization_url: Type.String() }, { $id: "AuthorizationUrl" }),
    errors: START_ERRORS,
  }),
  oauthCallback: told({
    summary: "Callback of sign-in providers",
    description: "Clients do not call it. Redirects to `redirect_uri` with a one-time `code`, or with `error`.",
    parameters: [
      PROVIDER,
      { name: "code", in: "query", schema: Type.String({ description: "The provider's code." }) },
      { name: "state", in: "query", schema: Type.String({ description: "The state of the sign-in." }) },
    ],
    redirects: true,
    errors: ["oauth_provider_not_found", "invalid_state", "too_many_attempts", "server_busy"],
  }),
  exchangeOauthCode: told({
    summary: "Get tokens for a sign-in with a provider",
    description: "In exchange for the one-time code of the callback, within a minute.",
    body: {
      name: "OauthExchange",
      members: { code: text("From the callback."), provider: text("The provider.") },
      example: { code: "0".repeat(43), provider: "github" },
    },
    schema: PAIR,
    answer: "The pair.",
    errors: ["invalid_code", "oauth_provider_not_found", "too_many_attempts"],
  }),
  unlinkOauth: told({
    summary: "Unlink a provider from your account",
    description: "You cannot sign in with it afterwards.",
    parameters: [PROVIDER],
    errors: ["oauth_provider_not_found", "invalid_request"],
  }),
};

/** The descriptions by the names of their operations. */
export const ACCOUNT_TEXTS = { ...TOKENS, ...PROOFS, ...SESSIONS, ...OAUTH };
