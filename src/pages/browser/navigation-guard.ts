// Restricts a page while it is shown: which addresses it may request, where its main document may navigate, and what it may open.

import type { BrowserContext, Frame, Page, Request, Response, Route } from "playwright-core";
import { type AddressGuard, BlockedAddress } from "../../net/address-guard.ts";
import type { PageWay } from "../../net/page-egress-policy.ts";
import { PageError } from "../page-error.ts";
import { isAdvertising } from "./advertising.ts";

/** What the guard needs, and what it restricts. */
export interface TamingOptions {
  readonly guard: AddressGuard;
  /**
   * The page's egress. If undefined, the browser has direct network access, and the guard can only check requests that it sees.
   */
  readonly way: PageWay | undefined;
  /** Images, media and fonts are not loaded. */
  readonly isTextOnly: boolean;
  /** Requests to the common advertising networks are not made. */
  readonly blocksAds: boolean;
  /** Headers that are sent to the origin of the requested address, and to no other. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Awaited before the main document navigates elsewhere; if it throws, the page is refused. Redirects by servers cannot be
   * delayed.
   */
  readonly onRedirect: (url: string) => Promise<void>;
}

/** The guard of one page. */
export interface Tamed {
  /** Resolves once every request is intercepted. Navigating earlier would bypass the checks. */
  readonly isOn: Promise<unknown>;
  /** Throws `BlockedAddress`, or what `onRedirect` threw, if the main document was sent to a forbidden address. */
  throwIfRefused(): void;
  /** Resolves when the server redirects of the main document have been checked. */
  judged(): Promise<unknown>;
  /** Resolves when a navigation of the main document was blocked. Waiting for that navigation to load would never end. */
  readonly stayed: Promise<void>;
  /** The HTTP status of the document shown last; undefined if no server sent it. */
  status(): number | undefined;
  /** The address and status of the main document's last response; undefined if no server answered its last navigation. */
  answered(): { readonly url: string; readonly status: number } | undefined;
}

/** Maximum number of requests of one page; more indicate a loop. */
const REQUESTS_MAX = 1000;
/** Maximum number of successive navigations of a main document; browsers follow the same number of redirects. */
const PLACES_MAX = 20;
const HEAVY = new Set(["image", "media", "font"]);
/** Statuses of responses after which the browser stays on the page. */
const STAYING = new Set([204, 205]);

/** Starts guarding a page; the restrictions last as long as the page. */
export function tame(context: BrowserContext, page: Page, options: TamingOptions): Tamed {
  const restraints = new Restraints(page, options);
  // A request of a page that is closing can no longer be continued or aborted.
  const isOn = context.route("**/*", (route) => restraints.decide(route).catch(() => undefined));
  quietly(isOn);
  page.on("request", (request) => restraints.begun(request));
  page.on("requestfailed", (request) => restraints.ended(request));
  page.on("response", (response) => restraints.answeredBy(response));
  page.on("framenavigated", (frame) => restraints.navigated(frame));
  page.on("dialog", (dialog) => quietly(dialog.dismiss()));
  context.on("page", (other) => {
    if (other !== page) quietly(other.close());
  });
  return {
    isOn,
    stayed: restraints.stayed.promise,
    status: () => restraints.status,
    answered: () => restraints.answered,
    judged: () => Promise.all(restraints.judging),
    throwIfRefused: () => restraints.throwIfRefused(),
  };
}

function quietly(work: Promise<unknown>): void {
  work.catch(() => undefined);
}

/** The state of a page's requests, and the decisions that depend on it. */
class Restraints {
  readonly stayed = Promise.withResolvers<void>();
  readonly judging: Promise<unknown>[] = [];
  status: number | undefined;
  answered: { url: string; status: number } | undefined;
  readonly #page: Page;
  readonly #options: TamingOptions;
  readonly #going = new Map<Request, () => void>();
  #requests = 0;
  #places = 0;
  #refusal: unknown;
  #isRefused = false;
  /** The origin of the first request. */
  #origin: string | undefined;

  constructor(page: Page, options: TamingOptions) {
    this.#page = page;
    this.#options = options;
  }

  /** Allows or blocks a request. */
  async decide(route: Route): Promise<void> {
    const request = route.request();
    if (!(await this.#mayGo(request))) return route.abort();
    if (!(await this.#leadsNowhere(request)) && (await this.#mayGoOn(request)))
      return route.continue(this.#headersOf(request));
    await route.abort("aborted");
    this.stayed.resolve();
  }

  begun(request: Request): void {
    if (!this.#isMain(request)) return;
    const { way, guard } = this.#options;
    this.answered = undefined;
    if (way !== undefined) this.#going.set(request, way.navigating(request.url()));
    // Playwright does not call the route handler for redirects.
    else if (request.redirectedFrom() !== null)
      quietly(guard.check(request.url()).catch((error: unknown) => this.#noteBlocked(error)));
    if (request.redirectedFrom() === null) return;
    this.#places++;
    this.judging.push(this.#judge(request));
  }

  ended(request: Request): void {
    this.#going.get(request)?.();
    this.#going.delete(request);
  }

  answeredBy(response: Response): void {
    const status = response.status();
    const isStaying = STAYING.has(status) || (status >= 300 && status < 400);
    if (isStaying) this.ended(response.request());
    else if (this.#isMain(response.request())) {
      this.status = status;
      this.answered = { url: response.url(), status };
    }
  }

  navigated(frame: Frame): void {
    if (frame !== this.#page.mainFrame()) return;
    this.#going.clear();
    this.#options.way?.arrived(frame.url());
  }

  throwIfRefused(): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (this.#isRefused || this.#options.way?.isRefused === true)
      throw new BlockedAddress("address", "The page redirects to an address that must not be fetched.");
  }

  #isMain(request: Request): boolean {
    try {
      return request.isNavigationRequest() && request.frame() === this.#page.mainFrame();
    } catch {
      // A frame that does not exist yet belongs to a pop-up.
      return false;
    }
  }

  async #mayGo(request: Request): Promise<boolean> {
    const { isTextOnly, way, guard } = this.#options;
    if (++this.#requests > REQUESTS_MAX || !/^https?:/.test(request.url())) return false;
    const isMainDocument = this.#isMain(request);
    if (!isMainDocument && isTextOnly && HEAVY.has(request.resourceType())) return false;
    if (!isMainDocument && this.#options.blocksAds && isAdvertising(request.url())) return false;
    if (way !== undefined) return true;
    return guard.check(request.url(), { purpose: isMainDocument ? "navigation" : "subresource" }).then(
      () => true,
      (error: unknown) => {
        if (isMainDocument) this.#noteBlocked(error);
        return !(error instanceof BlockedAddress);
      },
    );
  }

  /** The request's headers with the caller's headers added, if it goes to the first origin. */
  #headersOf(request: Request): { headers?: Record<string, string> } {
    const { headers } = this.#options;
    const { origin } = new URL(request.url());
    this.#origin ??= origin;
    if (Object.keys(headers).length === 0 || origin !== this.#origin) return {};
    return { headers: { ...request.headers(), ...headers } };
  }

  /**
   * If a script navigates to an unreachable host, the page is kept as it is, since it is more useful than the browser's error
   * page.
   */
  async #leadsNowhere(request: Request): Promise<boolean> {
    if (this.status === undefined || !this.#isMain(request)) return false;
    const checked = await this.#options.guard.check(request.url()).catch((error: unknown) => error);
    this.#noteBlocked(checked);
    return checked instanceof Error;
  }

  /**
   * Whether the main document may navigate to the request's address. The first navigation, which the caller requested, is always
   * allowed.
   */
  async #mayGoOn(request: Request): Promise<boolean> {
    if (!this.#isMain(request) || this.#places++ === 0) return true;
    await this.#judge(request);
    return this.#refusal === undefined;
  }

  async #judge(request: Request): Promise<void> {
    if (this.#refusal !== undefined) return;
    if (this.#places > PLACES_MAX) this.#refusal = new PageError("upstream", "The page redirects too often.");
    else
      await this.#options.onRedirect(request.url()).catch((error: unknown) => {
        this.#refusal ??= error;
      });
  }

  #noteBlocked(error: unknown): void {
    if (error instanceof BlockedAddress) this.#isRefused = true;
  }
}
