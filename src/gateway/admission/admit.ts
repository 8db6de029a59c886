// Admits a request by key, plan, requests at once, rate limit and budget, in this order and before its body is read (so 401 comes before 400).

import { type AtOnce, whenThere } from "../../base/at-once.ts";
import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { requireActivePlan } from "../../catalog/tiers.ts";
import type { TierId } from "../../config/schema.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { RateLimiter, Verdict } from "../../shared-state/rate-windows.ts";
import type { LimitReached, RequestSlots, ScopedLimit, Slot } from "../../shared-state/request-slots.ts";
import type { Budgets } from "./budgets.ts";
import type { Caller } from "./caller.ts";
import { type KeyKind, requireUsable } from "./key-rules.ts";
import { tooManyAtOnce } from "./limits.ts";
import { readTagsHeader } from "./tags.ts";

export interface AdmitDeps {
  authenticate(request: Request): AtOnce<Caller>;
  limiter: RateLimiter;
  slots: RequestSlots;
  /** Opens the meter of a request whose key has a limit of tokens a minute. */
  meter(keyId: string, limits: readonly ScopedLimit[], exchange: Exchange): void;
  clock: Clock;
  /** The requests per minute that a plan allows. */
  tierRpm(tier: TierId): number;
  requireVerifiedEmail(): boolean;
  budgets: Pick<Budgets, "admit">;
  rejected?(): void;
  /** Copies the messages of a request whose key is being debugged. */
  debug?(request: Request, exchange: Exchange, caller: Caller): void;
}

/**
 * Admits a request, synchronously if its key is cached, or throws. `free`: the request costs nothing and does not count against
 * the rate limit.
 */
export type Admit = (request: Request, exchange: Exchange, options?: { free?: boolean }) => AtOnce<Caller>;

/**
 * The same as `authenticate`, but refuses other keys than those of `kind`, and keys of accounts with an unverified address while
 * `mustVerify` returns true.
 */
export function verifiedCallers<C extends Caller>(
  authenticate: (request: Request) => AtOnce<C>,
  { kind, mustVerify }: { kind: KeyKind; mustVerify: () => boolean },
): (request: Request) => AtOnce<C> {
  return (request) =>
    whenThere(authenticate(request), (caller) => {
      requireUsable(caller, request, kind);
      if (mustVerify()) requireVerified(caller);
      return caller;
    });
}

function requireVerified({ account }: Pick<Caller, "account">): void {
  if (!account.emailVerified) throw new ApiError("email_not_verified", "Verify your e-mail address first.");
}

/** The admission of every endpoint that counts against the rate limit. It adds the three rate-limit headers to the response. */
export function createAdmission(deps: AdmitDeps): Admit {
  const within = (verdict: Verdict, of: "key" | "project", caller: Caller, { headers }: Exchange): Caller =>
    allowed(deps, verdict, caller, { of, headers });
  const letIn = (caller: Caller, exchange: Exchange, free: boolean): AtOnce<Caller> => {
    const { log } = exchange;
    log["key_id"] = caller.keyId;
    log["account_id"] = caller.accountId;
    if (!free) exchange.caller = caller;
    exchange.holder = caller.accountId;
    requireActivePlan(caller.account, deps.clock.now());
    if (deps.requireVerifiedEmail()) requireVerified(caller);
    if (free) return caller;
    // A part of a request has the slot of the whole, and its tokens are counted there.
    if (caller.limits === undefined || exchange.isPart === true) return counted(caller, exchange);
    const { parallel, tpm } = caller.limits;
    if (tpm !== undefined) deps.meter(caller.keyId, tpm, exchange);
    if (parallel === undefined) return counted(caller, exchange);
    return countedThen(withSlot(parallel, exchange), caller, exchange);
  };
  const countedThen = (taken: AtOnce<void>, caller: Caller, exchange: Exchange): AtOnce<Caller> =>
    whenThere(taken, () => counted(caller, exchange));
  /** Takes a slot before anything is counted, so that a refusal uses up nothing. It is given back at the end of the exchange. */
  const withSlot = (parallel: readonly ScopedLimit[], exchange: Exchange): AtOnce<void> =>
    whenThere(deps.slots.take(parallel), (taken: Slot | LimitReached) => {
      if (!("reached" in taken)) return exchange.atEnd(() => taken.release());
      deps.rejected?.();
      throw tooManyAtOnce(taken.reached);
    });
  const counted = (caller: Caller, exchange: Exchange): AtOnce<Caller> => {
    const verdict = deps.limiter.admit(caller.keyId, caller.rpm ?? deps.tierRpm(caller.account.tier));
    const { project } = caller;
    if (project == null || project.rpm === null) {
      // Written out, since every chat takes this way and nearly none waits.
      return verdict instanceof Promise
        ? withinLater(verdict, caller, exchange)
        : within(verdict, "key", caller, exchange);
    }
    return countedTwice(verdict, { id: project.id, rpm: project.rpm }, caller, exchange);
  };
  const withinLater = async (verdict: Promise<Verdict>, caller: Caller, exchange: Exchange): Promise<Caller> =>
    within(await verdict, "key", caller, exchange);
  const countedTwice = (
    verdict: AtOnce<Verdict>,
    project: { readonly id: string; readonly rpm: number },
    caller: Caller,
    exchange: Exchange,
  ): AtOnce<Caller> =>
    whenThere(verdict, (ofKey) =>
      ofKey.admitted ? countedInProject(project, ofKey, caller, exchange) : within(ofKey, "key", caller, exchange),
    );
  /** Counts a request in the window of its project too. If that is full, it does not count in that of the key either. */
  const countedInProject = (
    { id, rpm }: { readonly id: string; readonly rpm: number },
    ofKey: Verdict,
    caller: Caller,
    exchange: Exchange,
  ): AtOnce<Caller> =>
    whenThere(deps.limiter.admit(id, rpm), (ofProject) => {
      // The headers tell the window that is full first.
      if (ofProject.admitted && ofProject.remaining >= ofKey.remaining) return within(ofKey, "key", caller, exchange);
      const told = () => within(ofProject, "project", caller, exchange);
      return ofProject.admitted ? told() : whenThere(deps.limiter.takeBack(caller.keyId, ofKey), told);
    });
  const known = (caller: Caller, request: Request, exchange: Exchange, free: boolean): AtOnce<Caller> => {
    // Refused requests are copied too, as they help to find a mistake.
    if (caller.debugUntilMs !== null) deps.debug?.(request, exchange, caller);
    requireUsable(caller, request, "ordinary");
    if (!free) readTagsHeader(request, exchange);
    return letIn(caller, exchange, free);
  };
  const knownLater = async (caller: Promise<Caller>, request: Request, exchange: Exchange, free: boolean) =>
    known(await caller, request, exchange, free);
  return (request, exchange, options) => {
    const free = options?.free === true;
    const caller = deps.authenticate(request);
    return caller instanceof Promise
      ? knownLater(caller, request, exchange, free)
      : known(caller, request, exchange, free);
  };
}

/** The caller, if the window allows the request. Throws 429 otherwise. The headers tell what is left. */
function allowed(
  deps: Pick<AdmitDeps, "budgets" | "rejected">,
  verdict: Verdict,
  caller: Caller,
  { of, headers }: { readonly of: "key" | "project"; readonly headers: Record<string, string> },
): Caller {
  headers["x-ratelimit-limit"] = String(verdict.limit);
  headers["x-ratelimit-remaining"] = String(verdict.remaining);
  headers["x-ratelimit-reset"] = String(verdict.resetSeconds);
  if (!verdict.admitted) {
    deps.rejected?.();
    throw new ApiError(
      "rate_limit_exceeded",
      `This ${of} may send ${verdict.limit} requests a minute. Try again in ${Math.max(1, verdict.resetSeconds)} s.`,
      {
        retryAfterSeconds: Math.max(1, verdict.resetSeconds),
        details: { limit: "rpm" },
      },
    );
  }
  deps.budgets.admit(caller);
  return caller;
}
