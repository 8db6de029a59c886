// The limits of a caller beside its requests a minute, found when its key is looked up rather than for each request.

import { ApiError } from "../../base/errors.ts";
import type { TierGrant } from "../../catalog/tiers.ts";
import type { TierId } from "../../config/schema.ts";
import type { ScopedLimit } from "../../shared-state/request-slots.ts";
import type { Caller } from "./caller.ts";

/** Seconds in Retry-After of a request too many at once, as most answers take a few seconds. */
const RETRY_AFTER_SECONDS = 2;

/** The caller with its limits; most have none. */
export function limited(caller: Caller, grants: Readonly<Record<TierId, TierGrant>>): Caller {
  const { keyId, project } = caller;
  const ofKey = caller.parallel ?? grants[caller.account.tier].parallel;
  const ofProject = project?.parallel ?? undefined;
  const parallel: ScopedLimit[] = [];
  if (ofKey !== undefined) parallel.push({ id: keyId, of: "key", limit: ofKey });
  if (project != null && ofProject !== undefined) parallel.push({ id: project.id, of: "project", limit: ofProject });
  return parallel.length === 0 ? caller : { ...caller, limits: { parallel } };
}

/** The error for a request too many at once. */
export function tooManyAtOnce({ of, limit }: ScopedLimit): ApiError {
  const requests = limit === 1 ? "1 request" : `${limit} requests`;
  return new ApiError(
    "rate_limit_exceeded",
    `This ${of} may have ${requests} at once. Try again when one of its requests has ended.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS, details: { limit: "parallel" } },
  );
}
