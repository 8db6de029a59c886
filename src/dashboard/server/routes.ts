// The dashboard below /dashboard: the page, its files and its API. The session cookie is the only credential here, and
// a write must come from a page of the dashboard.

import { Elysia } from "elysia";
import { clientOf } from "../../accounts/client.ts";
import { isSecure, placeOf } from "../../accounts/oauth/place.ts";
import { ApiError } from "../../base/errors.ts";
import { isoTime } from "../../base/iso-time.ts";
import { entryOf } from "../../base/json-object.ts";
import type { CatalogModel } from "../../catalog/models.ts";
import { isTierId, tierIncludes } from "../../catalog/tiers.ts";
import { modelView } from "../../catalog/view.ts";
import { type BodyLimits, readJsonBody } from "../../http/body.ts";
import { cookiesOf } from "../../http/cookies.ts";
import { noEndpoint } from "../../http/errors.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { refuseForeignHost } from "../../http/host-name.ts";
import { packedResponse } from "../../http/packed.ts";
import { pathOf } from "../../http/path.ts";
import type { Account } from "../../store/access/accounts.ts";
import { API, BASE, type Boot, type ModelChoice, type Profile } from "../contract.ts";
import { type AccountApiDeps, accountApi } from "./account-api.ts";
import { type DecisionsApiDeps, decisionsApi } from "./decisions-api.ts";
import { type DashboardRequest, type Endpoint, member } from "./endpoint.ts";
import { type GatewayApiDeps, gatewayApi } from "./gateway-api.ts";
import { hasSessionCookie, refuseForeignOrigin, visitorOf } from "./guard.ts";
import { type HousekeepingApiDeps, housekeepingApi } from "./housekeeping-api.ts";
import { type JobsApiDeps, jobsApi } from "./jobs-api.ts";
import { type KeyDebugApiDeps, keyDebugApi } from "./key-debug-api.ts";
import { budgetView, type KeysApiDeps, keysApi } from "./keys-api.ts";
import { type LogApiDeps, logApi } from "./log-api.ts";
import { modelsApi, shownLimit } from "./models-api.ts";
import { type OperationsApiDeps, operationsApi } from "./operations-api.ts";
import { type OverviewApiDeps, overviewApi } from "./overview-api.ts";
import { assetFile, htmlPage, safeHeaders } from "./page.ts";
import { type PeopleApiDeps, peopleApi } from "./people-api.ts";
import { type PlaygroundApiDeps, playgroundApi } from "./playground-api.ts";
import { type ProjectsApiDeps, projectsApi } from "./projects-api.ts";
import { type RunsApiDeps, runsApi } from "./runs-api.ts";
import { type SignInApiDeps, signInApi } from "./sign-in-api.ts";
import { type ThreadsApiDeps, threadsApi } from "./threads-api.ts";
import { type UsageApiDeps, usageApi } from "./usage-api.ts";

export interface DashboardDeps
  extends KeysApiDeps,
    Pick<RunsApiDeps, "runs">,
    Pick<ProjectsApiDeps, "projectDeps">,
    Pick<UsageApiDeps, "writer">,
    Pick<PlaygroundApiDeps, "play" | "decisionChoices" | "budgetsOf">,
    DecisionsApiDeps,
    ThreadsApiDeps,
    Pick<AccountApiDeps, "webhookSecrets">,
    Pick<LogApiDeps, "liveViews" | "isPriced">,
    JobsApiDeps,
    Pick<GatewayApiDeps, "gateway">,
    Pick<OperationsApiDeps, "operations">,
    Pick<HousekeepingApiDeps, "housekeeping">,
    Pick<PeopleApiDeps, "invites" | "sessions">,
    Omit<SignInApiDeps, "profile" | "boot"> {
  /** The address on which the gateway listens, and those under which it is reached. */
  urls(): { readonly host: string; readonly publicUrl: string; readonly dashboardUrl: string };
  readonly version: string;
  readonly usage: KeysApiDeps["usage"] &
    LogApiDeps["usage"] &
    OverviewApiDeps["usage"] &
    UsageApiDeps["usage"] &
    GatewayApiDeps["usage"] &
    PeopleApiDeps["usage"];
  readonly keyDebug: LogApiDeps["keyDebug"] & KeyDebugApiDeps["keyDebug"];
  readonly people: PeopleApiDeps["people"] & HousekeepingApiDeps["people"];
  readonly keys: KeysApiDeps["keys"] & PlaygroundApiDeps["keys"] & PeopleApiDeps["keys"];
  /** The storage that an account uses, and its limit. */
  storageOf(accountId: string): Promise<{ readonly usedBytes: number; readonly limitBytes: number }>;
  /** Who may create an account. */
  signup(): Boot["signup"];
  /** Whether the keys of accounts without a verified address are refused. */
  mustVerify(): boolean;
  /** Where mails are sent now. */
  mail(): Boot["mail"];
  /** Slugs of the sign-in providers that are enabled. */
  oauthProviders(): readonly string[];
  /** The models that are listed. */
  models(): readonly CatalogModel[];
}

/** Well above the size of the largest form. */
const BODY_LIMITS: BodyLimits = { maxBytes: 64 * 1024 };

const JSON_TYPE = { "content-type": "application/json;charset=utf-8" };
const NO_STORE = { "cache-control": "no-store" };

const PROVIDER_NAMES: Readonly<Record<string, string>> = { github: "GitHub", google: "Google", gitlab: "GitLab" };

/** Everything below /dashboard. */
export function dashboardRoutes(deps: DashboardDeps) {
  const { accounts } = deps;

  const profile = (account: Account) => profileOf(deps, account);
  const boot = (request: Request, account: Account | undefined) => bootOf(deps, request, account);
  const endpoints: Endpoint[] = [
    ...signInApi({ ...deps, profile, boot }),
    ...keysApi(deps),
    ...projectsApi(deps),
    ...keyDebugApi(deps),
    ...logApi({ ...deps, isSignedIn: async (request) => (await visitorOf(request, accounts)) !== undefined }),
    ...overviewApi(deps),
    ...usageApi(deps),
    ...accountApi(deps),
    ...threadsApi(deps),
    ...runsApi(deps),
    ...jobsApi(deps),
    ...playgroundApi(deps),
    ...decisionsApi(deps),
    ...gatewayApi(deps),
    ...modelsApi(deps),
    ...peopleApi(deps),
    ...operationsApi(deps),
    ...housekeepingApi(deps),
    member("GET", "/models", async ({ who }) => ({ data: deps.models().map((model) => choice(model, who.account)) })),
  ];

  const page = async (request: Request): Promise<Response> => {
    setHeaders(request, NO_STORE);
    const path = pathOf(request.url);
    if (path.startsWith(`${API}/`)) throw noEndpoint(request);
    const [built, who] = await Promise.all([pages(), visitorOf(request, accounts)]);
    const theme = cookiesOf(request).get("sallyport_theme");
    return htmlPage(path, built, { boot: await boot(request, who?.account), theme });
  };

  const routes = new Elysia()
    .get(BASE, ({ request }) => page(request))
    .get(`${BASE}/*`, ({ request }) => page(request))
    .get(`${BASE}/assets/:name`, async ({ request, params }) => {
      setHeaders(request);
      return assetFile(request, await pages(), params.name);
    });
  for (const endpoint of endpoints) {
    routes.route(
      endpoint.method,
      API + endpoint.path,
      ({ request, params }: { request: Request; params: Record<string, string> }) =>
        answer(deps, endpoint, { request, params }),
      { parse: "none" },
    );
  }
  return routes;
}

async function profileOf(deps: DashboardDeps, account: Account): Promise<Profile> {
  const plan = isTierId(account.tier) ? deps.grants()[account.tier] : undefined;
  return {
    ...(await deps.accounts.profile(account)),
    storage: storageView(await deps.storageOf(account.id)),
    subscription_until: isoTime(account.subscriptionUntilMs),
    has_password: account.passwordHash !== null,
    tier_rpm: plan?.rpm ?? 0,
    tier_tpm: plan?.tpm ?? null,
    tier_parallel: plan?.parallel ?? null,
    budget: budgetView(await deps.budgetOf(account)),
    debugged_keys: (await deps.keys.listKeys(account.id)).flatMap(({ id, name, debugUntilMs }) =>
      debugUntilMs === null || debugUntilMs <= deps.clock.now() ? [] : [{ id, name, until: isoTime(debugUntilMs) }],
    ),
  };
}

async function bootOf(deps: DashboardDeps, request: Request, account: Account | undefined): Promise<Boot> {
  const { accounts } = deps;
  return {
    profile: account === undefined ? null : await profileOf(deps, account),
    signup: account === undefined && (await accounts.isEmpty()) ? "first" : deps.signup(),
    must_verify: deps.mustVerify(),
    mail: deps.mail(),
    providers: deps
      .oauthProviders()
      .map((slug) => ({ slug, name: entryOf(PROVIDER_NAMES, slug) ?? capitalised(slug) })),
    base_url: placeOf(request, deps).baseUrl,
    version: deps.version,
  };
}

async function answer(
  deps: DashboardDeps,
  endpoint: Endpoint,
  { request, params }: Pick<DashboardRequest, "request" | "params">,
): Promise<Response> {
  const { accounts } = deps;
  setHeaders(request, NO_STORE);
  const { host, publicUrl, dashboardUrl } = deps.urls();
  refuseForeignHost(request, { host, ownUrls: [publicUrl, dashboardUrl] });
  if (endpoint.method !== "GET") refuseForeignOrigin(request, [publicUrl, dashboardUrl]);
  const who = await visitorOf(request, accounts);
  exchangeOf(request).holder = who?.account.id;
  const at = request.url.indexOf("?");
  const visit: DashboardRequest = {
    request,
    client: clientOf(request),
    params,
    query: new URLSearchParams(at < 0 ? "" : request.url.slice(at)),
    body: async () => {
      const { body } = await readJsonBody(request, BODY_LIMITS);
      // A body may take minutes to arrive. A session that ended meanwhile must not create a key with it.
      if (who !== undefined && (await visitorOf(request, accounts)) === undefined) throw signedOut(request);
      return body;
    },
    secure: isSecure(request, deps),
    cookies: [],
    who,
  };
  let given: unknown;
  if (endpoint.as === "anyone") given = await endpoint.run(visit);
  else {
    if (who === undefined) throw signedOut(request);
    // Others must not learn that the endpoint exists.
    if (endpoint.as === "admin" && !who.account.admin) {
      throw noEndpoint(request);
    }
    given = await endpoint.run({ ...visit, who });
  }
  const response =
    given instanceof Response ? given : packedResponse(request, JSON.stringify(given), { headers: JSON_TYPE });
  for (const cookie of visit.cookies) response.headers.append("set-cookie", cookie);
  return response;
}

/** Set on the exchange, so that errors have them too. */
function setHeaders(request: Request, more: Record<string, string> = {}): void {
  const exchange = exchangeOf(request);
  Object.assign(exchange.headers, safeHeaders(exchange), more);
}

/** Loaded when someone first opens the dashboard, since the program often serves only the API. */
async function pages() {
  const { bundle } = await import("./bundle.ts");
  return bundle();
}

function signedOut(request: Request): ApiError {
  return hasSessionCookie(request)
    ? new ApiError("invalid_token", "You are signed out. Sign in again.")
    : new ApiError("missing_token", "Sign in first.");
}

function storageView({ usedBytes, limitBytes }: Awaited<ReturnType<DashboardDeps["storageOf"]>>): Profile["storage"] {
  return { used_bytes: usedBytes, limit_bytes: limitBytes };
}

function choice(model: CatalogModel, { tier }: Account): ModelChoice {
  const { id, name, owned_by, supports_vision, supports_tools, supports_reasoning, description } = modelView(model);
  return {
    id,
    name,
    owned_by,
    tier: model.tier,
    context_length: shownLimit(model, "contextLength"),
    supports_vision,
    supports_tools,
    supports_reasoning,
    description,
    prices: model.prices === undefined ? null : { input: model.prices.input, output: model.prices.output ?? 0 },
    usable: isTierId(tier) && tierIncludes(tier, model.tier),
  };
}

function capitalised(slug: string): string {
  return slug.slice(0, 1).toUpperCase() + slug.slice(1);
}
