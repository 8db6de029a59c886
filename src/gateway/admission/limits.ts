// The limits of a caller beside its requests a minute, found when its key is looked up rather than for each request.

import { ApiError } from "../../base/errors.ts";
import type { TierGrant } from "../../catalog/tiers.ts";
import type { TierId } from "../../config/schema.ts";
import type { ScopedLimit } from "../../shared-state/request-slots.ts";
import type { Caller } from "./caller.ts";
import { callerRuns } from "./run-limits.ts";

/** Seconds in Retry-After of a request too many at once, as most answers take a few seconds. */
const RETRY_AFTER_SECONDS = 2;

/** The caller with its limits; most have none. */
export function limited(caller: Caller, grants: Readonly<Record<TierId, TierGrant>>): Caller {
  const plan = grants[caller.account.tier];
  const parallel = scoped(caller, caller.parallel ?? plan.parallel, caller.project?.parallel);
  const tpm = scoped(caller, caller.tpm ?? plan.tpm, caller.project?.tpm);
  const runs = callerRuns(plan.runs, caller.project == null ? [caller] : [caller, caller.project]);
  return parallel === undefined && tpm === undefined
    ? { ...caller, runs }
    : { ...caller, runs, limits: { parallel, tpm } };
}

function scoped(
  { keyId, project }: Caller,
  ofKey: number | undefined,
  ofProject: number | null | undefined,
): readonly ScopedLimit[] | undefined {
  if (ofKey === undefined && ofProject == null) return undefined;
  const limits: ScopedLimit[] = [];
  if (ofKey !== undefined) limits.push({ id: keyId, of: "key", limit: ofKey });
  if (project != null && ofProject != null) limits.push({ id: project.id, of: "project", limit: ofProject });
  return limits;
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
