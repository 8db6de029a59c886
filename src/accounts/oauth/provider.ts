// A sign-in provider: builds the redirect, and identifies the person who returns. Two kinds by configuration: an OpenID
// Connect issuer, from which the rest is discovered, and a plain OAuth 2 server such as GitHub's. The operator configured the
// addresses, so they are fetched directly, with limits on time and size.

import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetchOptions,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
} from "openid-client";
import { isStorable } from "../../base/storable.ts";
import { VERSION } from "../../base/version.ts";
import type { Config } from "../../config/schema.ts";

/** A provider's entry in the configuration. */
export type OAuthConfig = Config["auth"]["oauth"] extends ReadonlyMap<string, infer Entry> ? Entry : never;

/** A person as the provider describes them. */
export interface Person {
  /** The provider's own id for them, which never changes. */
  readonly subject: string;
  readonly email: string | null;
  /** Only if the provider says so. */
  readonly emailVerified: boolean;
  /** Their user name there. */
  readonly name: string | null;
  /** Those of their groups that the configuration names. */
  readonly groups: readonly string[];
}

/** The values that make one round trip unforgeable. */
export interface RoundTrip {
  readonly redirectUri: string;
  readonly state: string;
  readonly codeVerifier: string;
  readonly nonce: string;
}

/** Both halves of a round trip. They throw if the provider is unreachable or refuses. */
export interface SignInProvider {
  /** The address to redirect the person to. */
  authorizationUrl(trip: RoundTrip): Promise<string>;
  /** The person who returned; `search` is the query of the callback. */
  person(trip: RoundTrip, search: string): Promise<Person>;
}

const SCOPE = "openid email profile";
/** Providers are fast or broken, and the person is waiting. */
const TIMEOUT_SECONDS = 10;
/** Key sets and profiles are a few KiB. */
const ANSWER_BYTES_MAX = 1024 * 1024;
/** A larger clock skew is a mistake that the operator must correct. */
const CLOCK_TOLERANCE_SECONDS = 60;
/** Keys and addresses of an issuer rarely change. */
const DISCOVERY_KEPT_MS = 3_600_000;

/** Builds a provider from its entry in the configuration. */
export function signInProvider(config: OAuthConfig, now: () => number): SignInProvider {
  return config.issuer === "" ? plainProvider(config) : openIdProvider(config, now);
}

function openIdProvider(config: OAuthConfig, now: () => number): SignInProvider {
  let known: { readonly server: Promise<Configuration>; readonly untilMs: number } | undefined;
  const discovered = (): Promise<Configuration> => {
    if (known !== undefined && known.untilMs > now()) return known.server;
    const issuer = new URL(config.issuer);
    const server = discovery(issuer, config.clientId, metadata(config), clientAuth(config), {
      timeout: TIMEOUT_SECONDS,
      [customFetch]: boundedFetch,
      // Signatures are checked even though TLS authenticates the issuer: the connection may end at a proxy or a cache.
      execute: [enableNonRepudiationChecks, ...(issuer.protocol === "http:" ? [allowInsecureRequests] : [])],
    });
    known = { server, untilMs: now() + DISCOVERY_KEPT_MS };
    server.catch(() => {
      // A failed look-up is not cached, so the next request tries again.
      known = undefined;
    });
    return server;
  };
  return {
    authorizationUrl: async (trip) => authorizationUrl(await discovered(), trip, scopeOf(config)),
    async person(trip, search) {
      const server = await discovered();
      const tokens = await authorizationCodeGrant(server, cameBackTo(trip, search), {
        ...checks(trip),
        expectedNonce: trip.nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error("the provider sent no ID token");
      const hasEmail = claims["email"] !== undefined;
      const hasGroups = config.groups.length === 0 || claims[config.groupsClaim] !== undefined;
      const canTell = server.serverMetadata().userinfo_endpoint !== undefined;
      const info: Record<string, unknown> =
        !(hasEmail && hasGroups) && canTell ? await fetchUserInfo(server, tokens.access_token, claims.sub) : claims;
      // An address and whether it is verified come from the same place.
      const told: Record<string, unknown> = hasEmail ? claims : info;
      const { email, email_verified: verified, preferred_username: name } = told;
      return {
        subject: subjectOf(claims.sub),
        email: text(email),
        // Some providers send a string instead of a boolean.
        emailVerified: verified === true || verified === "true",
        name: text(name),
        groups: groupsOf(config, claims[config.groupsClaim] ?? info[config.groupsClaim]),
      };
    },
  };
}

function plainProvider(config: OAuthConfig): SignInProvider {
  const { authorizeUrl, tokenUrl } = config;
  const server = new Configuration(
    { issuer: new URL(authorizeUrl).origin, authorization_endpoint: authorizeUrl, token_endpoint: tokenUrl },
    config.clientId,
    metadata(config),
    ClientSecretPost(config.clientSecret),
  );
  server.timeout = TIMEOUT_SECONDS;
  server[customFetch] = boundedFetch;
  if (tokenUrl.startsWith("http:")) allowInsecureRequests(server);
  return {
    authorizationUrl: (trip) => authorizationUrl(server, trip, "read:user user:email"),
    async person(trip, search) {
      const url = cameBackTo(trip, search);
      // The issuer in its metadata contains a placeholder, so it cannot match.
      url.searchParams.delete("iss");
      const tokens = await authorizationCodeGrant(server, url, checks(trip));
      const user = asRecord(await getJson(config.userUrl, tokens.access_token));
      const subject = subjectOf(user["id"]);
      const emails = config.emailsUrl === "" ? [] : await getJson(config.emailsUrl, tokens.access_token);
      return { subject, name: text(user["login"]), groups: [], ...chooseEmail(emails) };
    },
  };
}

function scopeOf({ groups, groupsScope }: OAuthConfig): string {
  return groups.length === 0 || groupsScope === "" ? SCOPE : `${SCOPE} ${groupsScope}`;
}

/** The groups in a claim that give something: a list, or the name of a single group. Without the claim there are none. */
function groupsOf({ groups }: OAuthConfig, claim: unknown): readonly string[] {
  const told = new Set<unknown>(Array.isArray(claim) ? claim : [claim]);
  return [...new Set(groups.map(({ group }) => group))].filter((group) => told.has(group));
}

/** The provider's id for a person. A blank name, or an inexact number, would be the same for several people. */
function subjectOf(id: unknown): string {
  if (typeof id === "string" && id.trim() !== "" && isStorable(id)) return id;
  if (typeof id === "number" && Number.isSafeInteger(id) && id > 0) return String(id);
  throw new Error("the provider's answer identifies no person");
}

/** The primary address if it is verified, else none: the profile's address may be anyone's. */
function chooseEmail(emails: unknown): { email: string | null; emailVerified: boolean } {
  const all = Array.isArray(emails) ? emails.map(asRecord) : [];
  const main = all.find((one) => one["primary"] === true);
  const email = text(main?.["email"]);
  return { email, emailVerified: email !== null && main?.["verified"] === true };
}

async function authorizationUrl(server: Configuration, trip: RoundTrip, scope: string): Promise<string> {
  const url = buildAuthorizationUrl(server, {
    redirect_uri: trip.redirectUri,
    scope,
    state: trip.state,
    nonce: trip.nonce,
    code_challenge: await calculatePKCECodeChallenge(trip.codeVerifier),
    code_challenge_method: "S256",
  });
  return url.href;
}

/** The address given to the provider, with its parameters: behind a proxy the request itself has another one. */
function cameBackTo(trip: RoundTrip, search: string): URL {
  const url = new URL(trip.redirectUri);
  url.search = search;
  return url;
}

function checks(trip: RoundTrip) {
  return { pkceCodeVerifier: trip.codeVerifier, expectedState: trip.state };
}

function metadata(config: OAuthConfig) {
  return { client_secret: config.clientSecret, [clockTolerance]: CLOCK_TOLERANCE_SECONDS };
}

/** The issuer's preferred method; the standard's default is Basic. */
function clientAuth({ clientSecret }: OAuthConfig): ClientAuth {
  return (server, client, body, headers) => {
    const takes = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const auth = takes.includes("client_secret_basic") ? ClientSecretBasic : ClientSecretPost;
    auth(clientSecret)(server, client, body, headers);
  };
}

async function getJson(url: string, accessToken: string): Promise<unknown> {
  const response = await boundedFetch(url, {
    method: "GET",
    redirect: "manual",
    body: undefined,
    headers: { authorization: `Bearer ${accessToken}`, accept: "application/json" },
  });
  if (!response.ok) throw new Error(`${new URL(url).pathname} answered ${response.status}`);
  return response.json();
}

async function boundedFetch(url: string, options: CustomFetchOptions): Promise<Response> {
  const { body, ...rest } = options;
  const response = await fetch(url, {
    ...rest,
    ...(body === undefined ? {} : { body: body as string | URLSearchParams }),
    // GitHub refuses requests without a user agent.
    headers: { ...options.headers, "user-agent": `Sallyport/${VERSION}` },
    signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1000),
  });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > ANSWER_BYTES_MAX) throw new Error("the provider's answer is too large");
    chunks.push(chunk);
  }
  const headers = new Headers(response.headers);
  // The value is decoded already.
  headers.delete("content-encoding");
  headers.delete("content-length");
  const empty = response.status === 204 || response.status === 304;
  return new Response(empty ? null : Buffer.concat(chunks), { status: response.status, headers });
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" && isStorable(value) ? value : null;
}
