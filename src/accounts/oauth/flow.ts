// Signs in through a provider, and links one to an account (docs/accounts.md). A state works once and for ten minutes, in the
// browser that started; the code that a client exchanges for tokens is ours, and works once for a minute.

import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { randomText, sha256Hex } from "../../base/ids.ts";
import type { SignInThrottle } from "../../shared-state/sign-in-throttle.ts";
import type { Account, AccountStore } from "../../store/access/accounts.ts";
import type { AuditStore } from "../../store/access/audit.ts";
import type { CodeStore, Ticket } from "../../store/access/codes.ts";
import type { IdentityStore } from "../../store/access/identities.ts";
import type { SessionStore } from "../../store/access/sessions.ts";
import { addressName } from "../address-name.ts";
import type { Client } from "../client.ts";
import { isSameMailbox } from "../new-account.ts";
import type { TokenPair, TokenPairs } from "../sessions/token-pairs.ts";
import type { FirstSignInDeps } from "./first-sign-in.ts";
import type { GroupsDeps, GroupsOf } from "./groups.ts";
import type { OAuthConfig, Person, SignInProvider } from "./provider.ts";
import { newTrip, type TripSecrets, tripOf } from "./round-trip.ts";

/** What the flow needs. */
export interface OAuthDeps extends FirstSignInDeps, GroupsDeps {
  readonly clock: Clock;
  readonly accounts: Pick<AccountStore, "findAccount" | "findAccountByEmail"> &
    FirstSignInDeps["accounts"] &
    GroupsDeps["accounts"];
  readonly identities: Pick<IdentityStore, "findAccountOfIdentity" | "linkIdentity" | "unlinkIdentity">;
  readonly codes: Pick<CodeStore, "issueTicket" | "takeTicket" | "peekTicket">;
  readonly audit: Pick<AuditStore, "addAudit">;
  readonly sessions: Pick<SessionStore, "hasSession">;
  readonly pairs: Pick<TokenPairs, "start">;
  /** The limit of sign-ins that one address can start, since each is stored for ten minutes. */
  readonly begun: SignInThrottle;
  readonly secret: string;
  /** The enabled providers, by slug. */
  providers(): ReadonlyMap<string, OAuthConfig>;
  /** Whether a person gets an account at the first sign-in. */
  makesAccounts(): boolean;
  /** `auth.oauth_redirects` */
  redirects(): readonly string[];
  failed(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** The service's address, as the current request sees it. */
export interface ServiceAddress {
  /** Base of the callback's address. */
  readonly baseUrl: string;
  readonly dashboardUrl: string;
}

/** How a sign-in round trip starts. */
export interface Begin {
  readonly slug: string;
  readonly redirectUri: string | undefined;
  /** The client's own state, returned to it. */
  readonly clientState: string | undefined;
  /** Links the provider to this account instead of signing in; only while its session has not been revoked. */
  readonly who?: { readonly account: Account; readonly sessionId: string };
  readonly place: ServiceAddress;
  readonly client: Client;
}

/** How a sign-in round trip returns. */
export interface Return {
  readonly slug: string;
  /** The query of the callback, with its question mark. */
  readonly search: string;
  /** The cookies of the request, if a browser sent it; undefined for other clients, which have none. */
  readonly browserCookies: ReadonlyMap<string, string> | undefined;
  readonly place: ServiceAddress;
  readonly client: Client;
}

/** Where to redirect the browser, and the cookie to set or delete. */
export interface Onward {
  readonly location: string;
  readonly cookie: TripSecrets["cookie"];
}

/** A person at a provider without an account yet. */
export interface PendingIdentity {
  readonly provider: string;
  readonly subject: string;
  readonly email: string | null;
  readonly emailVerified: boolean;
  readonly name: string | null;
  readonly groups: readonly string[];
}

/** The verbs of signing in through providers. */
export interface OAuth {
  /** Throws `ApiError` 404 `oauth_provider_not_found`, 400 `invalid_redirect_uri`, 429, or 502 if the provider is unreachable. */
  begin(start: Begin): Promise<Onward>;
  /** Throws `ApiError` 404 `oauth_provider_not_found` or 400 `invalid_state`; other errors are passed to the redirect target. */
  comeBack(back: Return): Promise<Onward>;
  /** The account for a code, which is used up. Throws `ApiError` 404 `oauth_provider_not_found` or 400 `invalid_code`. */
  redeem(input: { code: string; provider: string }): Promise<string>;
  /** The same, and starts a session. */
  exchange(input: { code: string; provider: string }, client: Client): Promise<TokenPair>;
  /** Throws `ApiError` 404 if it is not linked, 400 if it is the last way to sign in. */
  unlink(account: Account, slug: string, client: Client): Promise<void>;
  /** The person behind a sign-up's `pending` parameter; undefined if it is used or expired. */
  peekPending(token: string): Promise<PendingIdentity | undefined>;
  /** The same, and uses it up. */
  takePending(token: string): Promise<PendingIdentity | undefined>;
  /** Gives the account of this person what the person's groups give. */
  applyGroups(accountId: string, person: PendingIdentity, client: Client): Promise<void>;
}

const TRIP_MS = 600_000;
const CODE_MS = 60_000;
/** The time for choosing a user name. */
const PENDING_MS = 1_800_000;
const TOKEN_CHARS = 43;
const CLIENT_STATE_CHARS_MAX = 2048;

/** What is stored of a round trip; none of it is secret. */
interface Trip {
  readonly slug: string;
  readonly redirectUri: string;
  readonly callbackUrl: string;
  readonly clientState: string | null;
  readonly toDashboard: boolean;
  /** The session that started it, if it links. */
  readonly sessionId: string | null;
}

/** Builds the verbs. */
export function oauthFlow(deps: OAuthDeps): OAuth {
  const flow: Flow = { ...deps, providerOf: providerLookUp(deps) };
  const { codes, pairs } = deps;
  return {
    begin: (start) => begin(flow, start),
    comeBack: (back) => comeBack(flow, back),
    redeem: (input) => redeem(flow, input),
    exchange: async (input, client) => pairs.start(await redeem(flow, input), client),
    unlink: (account, slug, client) => unlink(flow, account, { slug, client }),
    peekPending: async (token) => pendingIn(await codes.peekTicket("pending_identity", sha256Hex(token))),
    takePending: async (token) => pendingIn(await codes.takeTicket("pending_identity", sha256Hex(token))),
    applyGroups: (accountId, { provider, groups }, client) => give(flow, accountId, { slug: provider, groups, client }),
  };
}

interface Flow extends OAuthDeps {
  /** Throws `ApiError` 404 if no such provider is enabled. */
  providerOf(slug: string): SignInProvider;
}

function providerLookUp({ clock, providers }: OAuthDeps): Flow["providerOf"] {
  const built = new Map<string, { readonly config: OAuthConfig; readonly provider: SignInProvider }>();
  return (slug) => {
    const config = providers().get(slug);
    if (config === undefined)
      throw new ApiError("oauth_provider_not_found", "This sign-in provider is not configured.");
    // Cached while its entry is the same object: a reload creates new entries.
    const known = built.get(slug);
    if (known?.config === config) return known.provider;
    const provider = loadedProvider(config, clock);
    built.set(slug, { config, provider });
    return provider;
  };
}

/** A provider whose code is loaded when the first person signs in by it. */
function loadedProvider(config: OAuthConfig, clock: Clock): SignInProvider {
  let provider: SignInProvider | undefined;
  const load = async () => {
    const { signInProvider } = await import("./provider.ts");
    provider ??= signInProvider(config, () => clock.now());
    return provider;
  };
  return {
    authorizationUrl: async (trip) => (await load()).authorizationUrl(trip),
    person: async (trip, search) => (await load()).person(trip, search),
  };
}

async function begin(
  flow: Flow,
  { slug, redirectUri: asked, clientState, who, place, client }: Begin,
): Promise<Onward> {
  const provider = flow.providerOf(slug);
  const redirectUri = asked ?? place.dashboardUrl;
  const toDashboard = redirectUri === place.dashboardUrl;
  if (!toDashboard && !flow.redirects().includes(redirectUri)) {
    throw new ApiError("invalid_redirect_uri", "This redirect_uri is not allowed here.", { param: "redirect_uri" });
  }
  if (clientState !== undefined && clientState.length > CLIENT_STATE_CHARS_MAX) {
    throw new ApiError("invalid_request", `state must have at most ${CLIENT_STATE_CHARS_MAX} characters.`, {
      param: "state",
    });
  }
  await countTrip(flow, client);
  const secrets = newTrip(flow.secret);
  const callbackUrl = `${place.baseUrl}/v1/auth/oauth/${slug}/callback`;
  const sessionId = who?.sessionId ?? null;
  const trip: Trip = { slug, redirectUri, callbackUrl, clientState: clientState ?? null, toDashboard, sessionId };
  let location: string;
  try {
    location = await provider.authorizationUrl({ ...secrets, redirectUri: callbackUrl });
  } catch (cause) {
    flow.failed("a sign-in provider could not be reached", { provider: slug, error: cause });
    throw new ApiError("provider_unavailable", "The sign-in provider is unreachable. Try again later.", { cause });
  }
  await flow.codes.issueTicket({
    kind: "oauth_state",
    hash: secrets.hash,
    accountId: who?.account.id ?? null,
    payload: { ...trip },
    expiresAtMs: flow.clock.now() + TRIP_MS,
  });
  return { location, cookie: secrets.cookie };
}

/** Throws 429 if one address has started too many. */
async function countTrip({ begun }: Flow, client: Client): Promise<void> {
  const attempt = await begun.begin([`oauth:${addressName(client.address)}`]);
  if (attempt.allowed) return;
  const { retryAfterSeconds } = attempt;
  throw new ApiError("too_many_attempts", "Too many sign-ins were started. Try again later.", { retryAfterSeconds });
}

async function comeBack(flow: Flow, { slug, search, browserCookies, place, client }: Return): Promise<Onward> {
  const provider = flow.providerOf(slug);
  const query = new URLSearchParams(search);
  const secrets = tripOf(query.get("state") ?? "", flow.secret);
  if (secrets === undefined) throw invalidState();
  const { name, value } = secrets.cookie;
  // A link started elsewhere and sent to someone would sign them in to, or link them to, another person's account.
  if (browserCookies !== undefined && browserCookies.get(name) !== value) throw invalidState();
  const ticket = await flow.codes.takeTicket("oauth_state", secrets.hash);
  const trip = ticket === undefined ? undefined : tripIn(ticket);
  if (ticket === undefined || trip === undefined || trip.slug !== slug) throw invalidState();

  const onward = (parameters: Told): Onward => ({
    location: destination(trip, parameters, place),
    cookie: secrets.cookie,
  });
  const refused = query.get("error");
  if (refused !== null) return onward({ error: /^[a-z_]{1,64}$/.test(refused) ? refused : "provider_error" });
  let person: Person;
  try {
    person = await provider.person({ ...secrets, redirectUri: trip.callbackUrl }, search);
  } catch (error) {
    flow.failed("a sign-in provider's answer could not be used", { provider: slug, error });
    return onward({ error: "provider_error" });
  }
  return onward(await arrive(flow, trip, { accountId: ticket.accountId, person, client }));
}

async function arrive(flow: Flow, trip: Trip, arrival: Arrival): Promise<Told> {
  const { slug } = trip;
  const { accountId } = arrival;
  if (accountId !== null) {
    // Calling the provider takes seconds, in which the owner may have revoked the session.
    if (!(await flow.sessions.hasSession(trip.sessionId ?? "", accountId))) throw invalidState();
    const error = await link(flow, accountId, { slug, ...arrival });
    if (error !== undefined) return { error };
    await give(flow, accountId, { slug, ...arrival, ...arrival.person });
    return { linked: slug };
  }
  const found = await accountOf(flow, slug, arrival);
  const now = flow.clock.now();
  if ("id" in found) {
    await give(flow, found.id, { slug, ...arrival, ...arrival.person });
    await flow.audit.addAudit({ accountId: found.id, event: "login", ...arrival.client, detail: { provider: slug } });
    const ticket = { accountId: found.id, payload: { provider: slug }, expiresAtMs: now + CODE_MS };
    return { code: await issue(flow, "oauth_code", ticket) };
  }
  if (found.error !== "account_not_found" || !trip.toDashboard) return { error: found.error };
  const pending: PendingIdentity = { provider: slug, ...arrival.person };
  return { pending: await issue(flow, "pending_identity", { payload: { ...pending }, expiresAtMs: now + PENDING_MS }) };
}

/** Gives an account what the person's groups give now. */
async function give(flow: Flow, accountId: string, { slug, groups, client }: Omit<GroupsOf, "given">): Promise<void> {
  const { applyGroups } = await import("./groups.ts");
  const given = flow.providers().get(slug)?.groups ?? [];
  await applyGroups(flow, accountId, { slug, given, groups, client });
}

/** The account linked to this person, or found by address and then linked, or made where the configuration says so. */
async function accountOf(flow: Flow, slug: string, arrival: Arrival): Promise<{ id: string } | { error: string }> {
  const found = await knownAccount(flow, slug, arrival);
  if ("id" in found || found.error !== "account_not_found" || !flow.makesAccounts()) return found;
  const { makeAccount } = await import("./first-sign-in.ts");
  // Of two first sign-ins at once, one makes the account and the other finds it.
  const id =
    (await makeAccount(flow, { slug, ...arrival })) ??
    (await flow.identities.findAccountOfIdentity(slug, arrival.person.subject));
  return id === undefined ? found : { id };
}

async function knownAccount(flow: Flow, slug: string, arrival: Arrival): Promise<{ id: string } | { error: string }> {
  const { person } = arrival;
  const known = await flow.identities.findAccountOfIdentity(slug, person.subject);
  if (known !== undefined) return { id: known };
  if (person.email === null || !person.emailVerified) return { error: "account_not_found" };
  const account = await flow.accounts.findAccountByEmail(person.email);
  // Both sides must have verified the address: otherwise anyone who signs up first with another person's address gets their
  // identity.
  if (account?.emailVerified !== true || !isSameMailbox(account.email, person.email))
    return { error: "account_not_found" };
  const error = await link(flow, account.id, { slug, ...arrival });
  return error === undefined ? { id: account.id } : { error };
}

/** Links; returns the error for the redirect target, or undefined. */
async function link(
  { identities, audit }: Flow,
  accountId: string,
  { slug, person, client }: Pick<Arrival, "person" | "client"> & { readonly slug: string },
): Promise<string | undefined> {
  const { subject, email } = person;
  const outcome = await identities.linkIdentity(accountId, { provider: slug, subject, email });
  if (outcome === "taken") return "identity_taken";
  if (outcome === "linked") {
    await audit.addAudit({ accountId, event: "identity_linked", ...client, detail: { provider: slug } });
  }
  return undefined;
}

async function issue({ codes }: Flow, kind: "oauth_code" | "pending_identity", ticket: TicketParts): Promise<string> {
  const token = randomText(TOKEN_CHARS);
  await codes.issueTicket({ kind, hash: sha256Hex(token), ...ticket });
  return token;
}

async function redeem(flow: Flow, { code, provider }: { code: string; provider: string }): Promise<string> {
  flow.providerOf(provider);
  const ticket = await flow.codes.takeTicket("oauth_code", sha256Hex(code));
  if (ticket === undefined || ticket.accountId === null || ticket.payload["provider"] !== provider) {
    throw new ApiError("invalid_code", "The code is invalid: it was already used or has expired.", {
      param: "code",
    });
  }
  return ticket.accountId;
}

async function unlink(
  flow: Flow,
  { id: accountId }: Account,
  { slug, client }: { readonly slug: string; readonly client: Client },
): Promise<void> {
  const outcome = await flow.identities.unlinkIdentity(accountId, slug);
  if (outcome === "not_linked") {
    throw new ApiError("oauth_provider_not_found", "This provider is not linked to the account.");
  }
  if (outcome === "last_way_in") {
    throw new ApiError("invalid_request", "This is the account's only way to sign in: set a password first.");
  }
  await flow.audit.addAudit({ accountId, event: "identity_unlinked", ...client, detail: { provider: slug } });
  await give(flow, accountId, { slug, groups: [], client });
}

interface Arrival {
  /** The account to link the provider to; null for a sign-in. */
  readonly accountId: string | null;
  readonly person: Person;
  readonly client: Client;
}

type TicketParts = Pick<Parameters<CodeStore["issueTicket"]>[0], "accountId" | "payload" | "expiresAtMs">;

/** The parameters for the redirect target. */
type Told = { code: string } | { linked: string } | { pending: string } | { error: string };

/** The redirect target with its parameters; people without an account go to the dashboard's sign-up. */
function destination(trip: Trip, parameters: Told, place: ServiceAddress): string {
  const target = "pending" in parameters ? `${place.dashboardUrl.replace(/\/+$/, "")}/signup` : trip.redirectUri;
  const url = new URL(target);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  url.searchParams.set("provider", trip.slug);
  if (trip.clientState !== null) url.searchParams.set("state", trip.clientState);
  return url.href;
}

function tripIn({ payload }: Ticket): Trip {
  return payload as unknown as Trip;
}

function pendingIn(ticket: Ticket | undefined): PendingIdentity | undefined {
  return ticket?.payload as PendingIdentity | undefined;
}

function invalidState(): ApiError {
  return new ApiError("invalid_state", "This sign-in was not started here, is already finished or has expired.", {
    param: "state",
  });
}
