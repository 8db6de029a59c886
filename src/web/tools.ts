// The web tools of a program: address guard, fetch, browser, conversion threads, robots.txt and page loading. A changed
// configuration applies from the next page on.

import { availableParallelism } from "node:os";
import type { Clock } from "../base/clock.ts";
import type { Flights } from "../base/flights.ts";
import { lazily } from "../base/lazily.ts";
import { siteKey } from "../base/page-key.ts";
import type { Config } from "../config/schema.ts";
import { type AddressGuard, createAddressGuard } from "../net/address-guard.ts";
import { createFetch, type GuardedFetch, purposeOf } from "../net/fetch.ts";
import { createResolve } from "../net/resolve.ts";
import { createBrowser, findBrowser } from "../pages/browser/browser.ts";
import { type BrowserEgress, createRemoteEgress, LOCAL_EGRESS } from "../pages/browser/egress.ts";
import type { Renderer, RendererDeps } from "../pages/browser/render.ts";
import { type Converter, createConverter } from "../pages/convert/convert.ts";
import { createLoader, type LoadPage } from "../pages/load.ts";
import { createRobotsJudge } from "../pages/robots/judge.ts";
import { createRobots, type Robots } from "../pages/robots/robots.ts";
import { type Claim, createHostScheduler, type HostScheduler } from "../pages/schedule/host-scheduler.ts";
import { scheduledFetch, scheduledRenderer } from "../pages/schedule/scheduled-fetch.ts";
import { readSitemaps, type SitemapDeps, type SitemapOptions } from "../pages/sitemap.ts";
import type { HostLeases } from "../shared-state/host-leases.ts";
import type { RateLimiter } from "../shared-state/rate-windows.ts";

/** The tools. */
export interface WebTools {
  readonly guard: AddressGuard;
  readonly fetch: GuardedFetch;
  readonly robots: Robots;
  readonly load: LoadPage;
  readonly pickLinks: Converter["pickLinks"];
  readonly mapLinks: Converter["mapLinks"];
  readSitemaps(starts: readonly string[], options: SitemapOptions): Promise<string[]>;
  /** The scheduler that all jobs and single pages share. */
  readonly scheduler: HostScheduler;
  /**
   * The host of a page and the minimum delay between requests to it: the operator's delay, or the host's own if that is longer.
   */
  claimOf(url: string, signal?: AbortSignal): Promise<Claim>;
  /** Applies the current configuration of resolvers, allow-lists and browser. */
  reconfigure(): void;
  /** The numbers of conversions that run and that wait for a thread. */
  conversions(): { readonly running: number; readonly waiting: number };
  /** The state of the browser. `degraded`: its last start failed. */
  browserHealth(): { status: "ok" | "degraded" | "disabled" };
  close(): Promise<void>;
}

/** Maximum number of conversion threads. Pages are short tasks, and every thread has a heap of its own. */
const THREADS_MAX = 4;
/**
 * After a configuration change, the previous browser is closed after this time, the longest that a page in progress may still
 * need it.
 */
const RETIRED_MS = 300_000;

/** What the tools need. */
export interface WebToolsDeps {
  config(): Config;
  readonly clock: Clock;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** The state that several nodes share. */
  readonly acrossNodes?: WebSharing | undefined;
}

/** The state of the web tools that several nodes share. */
export interface WebSharing {
  readonly hosts: HostLeases | undefined;
  readonly flights: Flights;
  /** The rate windows of addresses that may search without a key. */
  readonly addresses: RateLimiter | undefined;
}

/** Creates the tools. The browser and the threads start on first use. */
export function createWebTools({ config, clock, warn, acrossNodes }: WebToolsDeps): WebTools {
  const web = () => config().web;
  const converter = createConverter(Math.max(1, Math.min(THREADS_MAX, availableParallelism())));
  const scheduler = createHostScheduler(clock, placesOf(web), acrossNodes?.hosts);
  // The egress of a remote browser is kept over a configuration change, since open pages still use it and its port is taken.
  const egresses = new Map<string, BrowserEgress>();
  const browserState = createBrowserState(warn);
  let parts = assemble(web(), egresses, browserState.started);
  const old = new Map<Renderer, ReturnType<typeof setTimeout>>();
  const retire = (renderer: Renderer) => {
    const close = () => {
      old.delete(renderer);
      void renderer.close();
    };
    old.set(renderer, setTimeout(close, RETIRED_MS));
  };
  // Other parts of the program hold references to these objects, so a new configuration replaces their contents only.
  const guard: AddressGuard = {
    check: (url, options) => parts.guard.check(url, options),
    isListed: (host, port) => parts.guard.isListed(host, port),
  };
  const fetch: GuardedFetch = (url, options) => parts.fetch(url, options);
  const judge = createRobotsJudge(clock);
  const readRobots = () =>
    createRobots({ fetch, clock, userAgent: () => web().userAgent, judge, flights: acrossNodes?.flights });
  let robots = readRobots();
  const rulesFor: Robots["rulesFor"] = (url, signal, account) => robots.rulesFor(url, signal, account);
  const { claimOf, sitemapClaim, obey } = claimsOf({ web, guard, rulesFor });
  const load = createLoader({
    fetch: scheduledFetch(fetch, { scheduler, claimOf }),
    converter,
    get renderer() {
      return parts.renderer === undefined ? undefined : scheduledRenderer(parts.renderer, { scheduler, claimOf });
    },
    robots: { rulesFor },
    settings: () => ({
      userAgent: web().userAgent,
      pageBytesMax: web().maxPageBytes,
      respectRobots: web().respectRobots,
      render: web().render,
    }),
  });
  return {
    guard,
    fetch,
    load,
    pickLinks: (task, options) => converter.pickLinks(task, options),
    mapLinks: (task, options) => converter.mapLinks(task, options),
    scheduler,
    claimOf,
    conversions: () => converter.load(),
    readSitemaps: (starts, options) =>
      readSitemaps(
        { fetch: scheduledFetch(fetch, { scheduler, claimOf: sitemapClaim }), converter, obey },
        starts,
        options,
      ),
    robots: { rulesFor },
    reconfigure: () => {
      if (JSON.stringify(web()) === parts.made) return;
      if (parts.renderer !== undefined) retire(parts.renderer);
      browserState.forget();
      parts = assemble(web(), egresses, browserState.started);
      robots = readRobots();
    },
    browserHealth: () => ({
      status: parts.renderer === undefined ? "disabled" : browserState.isBroken() ? "degraded" : "ok",
    }),
    close: async () => {
      converter.close();
      judge.close();
      for (const timer of old.values()) clearTimeout(timer);
      await Promise.all([...old.keys(), parts.renderer].map((renderer) => renderer?.close()));
      await Promise.all([...egresses.values()].map((egress) => egress.close()));
    },
  };
}

/** The maximum number of pages of each kind in progress. */
function placesOf(web: () => Config["web"]) {
  return {
    jobs: () => web().concurrency,
    singles: () => web().singleConcurrency,
    browser: () => web().browser.maxPages,
  };
}

/**
 * Records whether the last start of the browser succeeded. A failure is logged once until the browser starts again. Meanwhile,
 * pages are returned as they were sent.
 */
function createBrowserState(warn: WebToolsDeps["warn"]) {
  let isBroken = false;
  return {
    started(error?: unknown): void {
      if (error !== undefined && !isBroken)
        warn("the browser could not be started", { error: error instanceof Error ? (error.cause ?? error) : error });
      isBroken = error !== undefined;
    },
    isBroken: () => isBroken,
    forget(): void {
      isBroken = false;
    },
  };
}

/** The claims of pages and sitemaps to their hosts, and the check whether a sitemap may be read. */
function claimsOf({ web, guard, rulesFor }: { web(): Config["web"]; guard: AddressGuard } & Pick<Robots, "rulesFor">) {
  const claimOf = async (url: string, signal?: AbortSignal): Promise<Claim> => {
    const { perHostDelayMs, respectRobots } = web();
    // The address guard refuses an invalid address.
    if (!URL.canParse(url)) return { host: "", delayMs: 0 };
    const { crawlDelayMs } = respectRobots ? await rulesFor(url, signal) : { crawlDelayMs: 0 };
    return { host: siteKey(url), delayMs: Math.max(perHostDelayMs, crawlDelayMs) };
  };
  // The delay that a host demands applies to its pages, not to the sitemap, which is read once.
  const sitemapClaim = async (url: string): Promise<Claim> => ({
    host: URL.canParse(url) ? siteKey(url) : "",
    delayMs: web().perHostDelayMs,
  });
  /** A sitemap that robots.txt names is subject to its host's rules like any other address. */
  const obey: SitemapDeps["obey"] = async (url, { home, signal }) => {
    if (!web().respectRobots) return;
    // The robots.txt of a forbidden host must not be fetched either.
    await guard.check(url, { purpose: purposeOf(url, home), signal });
    await (await rulesFor(url, signal)).check(url, signal);
  };
  return { claimOf, sitemapClaim, obey };
}

function assemble(web: Config["web"], egresses: Map<string, BrowserEgress>, started: (error?: unknown) => void) {
  const guard = createAddressGuard(web, createResolve(web.dns));
  const { executable, endpoint, maxMemoryBytes, maxPages } = web.browser;
  const hasBrowser = web.render !== "never" && (endpoint !== "" || findBrowser(executable) !== undefined);
  const renderer = hasBrowser
    ? lateRenderer({
        browser: createBrowser({ executable, endpoint, pageBytesMax: maxMemoryBytes }, started),
        guard,
        pagesMax: maxPages,
        egress: egressFor(web.browser, egresses),
      })
    : undefined;
  return { made: JSON.stringify(web), guard, fetch: createFetch(guard), renderer };
}

/** What shows pages is loaded by the first one that needs a browser. */
function lateRenderer(deps: RendererDeps): Renderer {
  const renderer = lazily(() => {
    const { createRenderer }: typeof import("../pages/browser/render.ts") = require("../pages/browser/render.ts");
    return createRenderer(deps);
  });
  return { render: (request) => renderer().render(request), close: () => deps.browser.close() };
}

function egressFor(
  { endpoint, proxyAddress }: Config["web"]["browser"],
  egresses: Map<string, BrowserEgress>,
): BrowserEgress | undefined {
  if (endpoint === "") return LOCAL_EGRESS;
  if (proxyAddress === "") return undefined;
  const egress = egresses.get(proxyAddress) ?? createRemoteEgress(proxyAddress);
  egresses.set(proxyAddress, egress);
  return egress;
}
