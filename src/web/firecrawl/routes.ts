// Firecrawl's v2 endpoints, for its clients. POSTs that do work are admitted and counted; polls, cancellations and status
// only need the key. Every success is a 200, and every `error` is a string.

import { Elysia } from "elysia";
import type { AtOnce } from "../../base/at-once.ts";
import { jsonInTurns } from "../../base/json-turns.ts";
import { pathOf } from "../../http/path.ts";
import type { WebFeature } from "../failure.ts";
import type { Body } from "../params.ts";
import type { KeyHolder, WebCaller } from "../routes.ts";
import { asFirecrawlError } from "./failure.ts";
import { HOSTED_ADDRESSES, HOSTED_PATHS, refuseHosted } from "./hosted.ts";
import { type FirecrawlAsker, type FirecrawlPageDeps, scrapeForFirecrawl } from "./scrape.ts";

/** What the endpoints need. */
export interface FirecrawlRoutesDeps {
  /** Key, plan, rate limit and budget; throws 401, 402, 403 or 429. */
  admit(request: Request): AtOnce<KeyHolder>;
  /** Key alone; throws 401. */
  authenticate(request: Request): AtOnce<WebCaller>;
  /** The body as a JSON object; throws 400, 408 or 413. */
  readJson(request: Request): Promise<Body>;
  requestId(request: Request): string;
  /** Scheme and host under which clients reach the gateway. */
  publicUrl(request: Request): string;
  clientGone(request: Request): void;
  unexpected(request: Request, error: unknown): void;
  readonly pages: FirecrawlPageDeps;
}

/** In logs and metrics only. */
const CLIENT_GONE = 499;
/** Bodies are read by our own code, within limits. */
const RAW = { parse: "none" } as const;
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** The endpoints. */
export function firecrawlRoutes(deps: FirecrawlRoutesDeps) {
  const { counted } = createFirecrawlAnswering(deps);
  return new Elysia()
    .post(
      "/v2/scrape",
      counted("scrape", (body, from) => scrapeForFirecrawl(body, deps.pages, from)),
      RAW,
    )
    .use(hostedRoutes());
}

/** Unsupported endpoints say so to everyone. */
function hostedRoutes() {
  const routes = new Elysia();
  const refuse = ({ request }: { request: Request }) => refuseHosted(pathOf(request.url));
  const paths = [...HOSTED_PATHS.flatMap((path) => [path, `${path}/*`]), ...HOSTED_ADDRESSES];
  for (const path of paths) for (const method of METHODS) routes.route(method, path, refuse, RAW);
  return routes;
}

/** What the endpoints share. */
export function createFirecrawlAnswering(deps: FirecrawlRoutesDeps) {
  const finish = async (feature: WebFeature, request: Request, work: () => Promise<object>) => {
    try {
      const text = await jsonInTurns(await work());
      return new Response(text, { headers: { "content-type": "application/json;charset=utf-8" } });
    } catch (error) {
      if (request.signal.aborted) {
        deps.clientGone(request);
        return new Response(null, { status: CLIENT_GONE });
      }
      const known = asFirecrawlError(feature, error);
      if (known.apiCode.endsWith("internal_error")) deps.unexpected(request, error);
      throw known;
    }
  };
  /** A request that counts against the key's rate limit. */
  const counted =
    (feature: WebFeature, answer: (body: Body, from: FirecrawlAsker, request: Request) => Promise<object>) =>
    async ({ request }: { request: Request }) => {
      const { accountId, keyId } = await deps.admit(request);
      const body = await deps.readJson(request);
      const from = { accountId, keyId, requestId: deps.requestId(request), signal: request.signal };
      return finish(feature, request, () => answer(body, from, request));
    };
  return { counted, finish };
}
