// The keys of `auth` and `email`.

import {
  age,
  choice,
  duration,
  element,
  entry,
  flag,
  formatted,
  integer,
  list,
  map,
  optional,
  required,
  section,
  text,
} from "./fields.ts";
import { TIER_IDS } from "./schema-server.ts";

/** An element of `auth.oauth.SLUG.groups` */
const Group = entry("A group and what its members get: a project, a plan or both.", {
  group: required("The group, as the issuer names it."),
  project: text("Id of a project that they are members of."),
  role: choice("Their role in the project.", "member", ["member", "manager"]),
  tier: optional(choice("Their plan. Of several groups' plans, the highest one.", "free", TIER_IDS)),
});

/** `auth.oauth.SLUG` */
const OAuthProvider = section("A sign-in provider. It is enabled when it has a client_id.", {
  client_id: text("From the provider's registration of this gateway."),
  client_secret: text("From the same registration.", "", { secret: true }),
  issuer: formatted("url", "OpenID Connect issuer, from which everything else is discovered."),
  authorize_url: formatted("url", "URL to which the user is redirected. Required without an issuer."),
  token_url: formatted("url", "URL at which the code is exchanged. Required without an issuer."),
  user_url: formatted("url", "URL of the user's profile. Required without an issuer."),
  emails_url: formatted("url", "URL of the user's e-mail addresses, for providers without an issuer."),
  groups: list("What groups give to the people in them, applied at each sign-in. Needs an issuer.", Group),
  groups_claim: text("The claim of the ID token, or of the user info, that lists a person's groups.", "groups"),
  groups_scope: text("A further scope to ask for, if the issuer tells groups only with one."),
});

/** `auth` */
export const AuthSection = section("Accounts and tokens.", {
  signup: choice(
    "Who may create an account in the dashboard; `oauth`: everyone whom a sign-in provider signs in gets one, and nobody else.",
    "open",
    ["open", "invite", "closed", "oauth"],
  ),
  require_verified_email: flag("Requests with keys of accounts without a verified address get 403.", false),
  login_limit: section("Protection against password guessing, for each account and each address.", {
    failures: integer("Number of failed attempts after which it is locked.", 10, { minimum: 1, maximum: 10_000 }),
    window: duration("How long failures count.", "15m", 1000),
  }),
  refresh_reuse_grace: duration("Grace period in which a used refresh token still returns the same new pair.", "0s", 0),
  access_token_ttl: age("Lifetime of an access token.", "15m", 1000),
  refresh_token_ttl: age("Lifetime of a refresh token.", "30d", 1000),
  jwt_secret: text("Signs access tokens. Empty: generated once and kept in data_dir.", "", { secret: true }),
  oauth: map("Sign-in providers by slug: github, google, or any other with an issuer.", OAuthProvider, {
    entries: {
      github: {
        authorize_url: "https://github.com/login/oauth/authorize",
        token_url: "https://github.com/login/oauth/access_token",
        user_url: "https://api.github.com/user",
        emails_url: "https://api.github.com/user/emails",
      },
      google: { issuer: "https://accounts.google.com" },
    },
  }),
  oauth_redirects: list("Further allowed redirect_uri values, matched exactly.", element("url")),
});

/** `email` */
export const EmailSection = section("Outgoing mail.", {
  smtp_url: formatted("smtp", "Empty: mails are written to data_dir/outbox and logged.", "", { secret: true }),
  from: formatted("mailbox", "The sender.", "Sallyport <noreply@localhost>"),
});
