// Restrains a page while it is shown: what it may ask for, where its main document may go, and what it may open.

import type { BrowserContext, Page, Request, Route } from "playwright-core";
import { BlockedAddress, type Guard } from "../../net/guard.ts";
import type { PageWay } from "../../net/page-egress-policy.ts";
import { PageError } from "../page-error.ts";

/** What restraining needs. */
export interface TamingOptions {
  readonly guard: Guard;
  /** Undefined: the browser goes out by itself, and only what can be seen from here is checked. */
  readonly way: PageWay | undefined;
  /** Pictures, sounds and fonts are not loaded. */
  readonly isTextOnly: boolean;
  /** Awaited before the main document goes elsewhere; a throw refuses the page. Servers' redirects cannot be held up. */
  readonly onRedirect: (url: string) => Promise<void>;
}

/** A restrained page. */
export interface Tamed {
  /** Resolves when every request is decided on; a page sent anywhere earlier would go unasked. */
  readonly isOn: Promise<unknown>;
  /** Throws `BlockedAddress`, or what `onRedirect` threw, when the main document was sent where it may not go. */
  throwIfRefused(): void;
  /** Resolves when the servers' redirects that the main document followed have been judged. */
  judged(): Promise<unknown>;
  /** Resolves when the main document was kept from leaving: what waits for it to load would wait in vain. */
  readonly stayed: Promise<void>;
  /** What the server said of the document that is shown last; undefined when it came from none. */
  status(): number | undefined;
  /** Where the main document was sent last, when a server answered there. */
  answered(): { readonly url: string; readonly status: number } | undefined;
}

/** Requests of one page; more is a loop. */
const REQUESTS_MAX = 1000;
/** Places that a main document is sent to one after the other; browsers follow as many redirects. */
const PLACES_MAX = 20;
const HEAVY = new Set(["image", "media", "font"]);
/** Answers that leave the page where it was. */
const STAYING = new Set([204, 205]);

/** Puts the restraints on; they hold as long as the page. */
export function tame(context: BrowserContext, page: Page, options: TamingOptions): Tamed {
  const { way, guard } = options;
  const going = new Map<Request, () => void>();
  const stayed = Promise.withResolvers<void>();
  const judging: Promise<unknown>[] = [];
  let requests = 0;
  let places = 0;
  let refusal: unknown;
  let isRefused = false;
  let status: number | undefined;
  let answered: { url: string; status: number } | undefined;

  const isMain = (request: Request): boolean => {
    try {
      return request.isNavigationRequest() && request.frame() === page.mainFrame();
    } catch {
      // A frame that is not there yet is a pop-up's.
      return false;
    }
  };
  const mayGo = async (request: Request): Promise<boolean> => {
    if (++requests > REQUESTS_MAX || !/^https?:/.test(request.url())) return false;
    const isMainDocument = isMain(request);
    if (!isMainDocument && options.isTextOnly && HEAVY.has(request.resourceType())) return false;
    if (way !== undefined) return true;
    return guard.check(request.url(), { purpose: isMainDocument ? "navigation" : "subresource" }).then(
      () => true,
      (error: unknown) => {
        if (isMainDocument && error instanceof BlockedAddress) isRefused = true;
        return !(error instanceof BlockedAddress);
      },
    );
  };
  /** A page that a script sends where nobody is stays as it is: what it shows is worth more than the browser's word on that. */
  const leadsNowhere = async (request: Request): Promise<boolean> => {
    if (status === undefined || !isMain(request)) return false;
    const checked = await guard.check(request.url()).catch((error: unknown) => error);
    if (checked instanceof BlockedAddress) isRefused = true;
    return checked instanceof Error;
  };
  /** Whether the main document may go on; the first is what was asked for. */
  const mayGoOn = async (request: Request): Promise<boolean> => {
    if (!isMain(request) || places++ === 0) return true;
    await judge(request);
    return refusal === undefined;
  };
  const decide = async (route: Route) => {
    if (!(await mayGo(route.request()))) return route.abort();
    if (!(await leadsNowhere(route.request())) && (await mayGoOn(route.request()))) return route.continue();
    await route.abort("aborted");
    stayed.resolve();
  };
  const quietly = (work: Promise<unknown>) => void work.catch(() => undefined);
  const ended = (request: Request) => {
    going.get(request)?.();
    going.delete(request);
  };

  // A route of a page that is closing cannot be answered any more.
  const isOn = context.route("**/*", (route) => decide(route).catch(() => undefined));
  quietly(isOn);
  page.on("request", (request) => {
    if (!isMain(request)) return;
    answered = undefined;
    if (way !== undefined) going.set(request, way.navigating(request.url()));
    // Redirects are followed without a word to the route.
    else if (request.redirectedFrom() !== null) quietly(guard.check(request.url()).catch(refuse));
    if (request.redirectedFrom() === null) return;
    places++;
    judging.push(judge(request));
  });
  page.on("requestfailed", ended);
  page.on("response", (response) => {
    const isStaying = STAYING.has(response.status()) || (response.status() >= 300 && response.status() < 400);
    if (isStaying) ended(response.request());
    else if (isMain(response.request())) {
      status = response.status();
      answered = { url: response.url(), status };
    }
  });
  page.on("framenavigated", (frame) => {
    if (frame !== page.mainFrame()) return;
    going.clear();
    way?.arrived(frame.url());
  });
  page.on("dialog", (dialog) => quietly(dialog.dismiss()));
  context.on("page", (other) => {
    if (other !== page) quietly(other.close());
  });

  async function judge(request: Request): Promise<void> {
    if (refusal !== undefined) return;
    if (places > PLACES_MAX) refusal = new PageError("upstream", "The page leads on too often.");
    else
      await options.onRedirect(request.url()).catch((error: unknown) => {
        refusal ??= error;
      });
  }
  function refuse(error: unknown): void {
    if (error instanceof BlockedAddress) isRefused = true;
  }
  return {
    isOn,
    stayed: stayed.promise,
    status: () => status,
    answered: () => answered,
    judged: () => Promise.all(judging),
    throwIfRefused: () => {
      if (refusal !== undefined) throw refusal;
      if (isRefused || way?.isRefused === true)
        throw new BlockedAddress("address", "The page leads to an address that may not be fetched.");
    },
  };
}
