// What a key opens: management keys open what manages keys and nothing else, ordinary keys the rest. A disabled key opens nothing,
// and a key with a list of addresses nothing from elsewhere.

import { ApiError } from "../../base/errors.ts";
import { lazily } from "../../base/lazily.ts";
import { exchangeOf } from "../../http/exchange.ts";
import type { Caller } from "./caller.ts";

/** The keys that an endpoint takes: ordinary ones, management keys, or both. */
export type KeyKind = "ordinary" | "management" | "any";

/** Loaded with the first key that has a list of addresses. */
const addressTests = lazily(() => {
  const { parseCidr }: typeof import("../../net/address.ts") = require("../../net/address.ts");
  const known = new WeakMap<readonly string[], readonly ((address: string) => boolean)[]>();
  return (ranges: readonly string[]) => {
    const tests = known.get(ranges) ?? ranges.flatMap((range) => parseCidr(range) ?? []);
    known.set(ranges, tests);
    return tests;
  };
});

/** Throws `ApiError` 403 if the caller's key may not be used for this request. */
export function requireUsable(
  { management, disabled, addresses, account }: Pick<Caller, "management" | "disabled" | "addresses" | "account">,
  request: Request,
  kind: KeyKind,
): void {
  if (disabled) throw new ApiError("key_disabled", "This key is disabled. Whoever manages it can enable it again.");
  if (addresses !== null) requireAddress(addresses, request);
  if (kind === "ordinary" && management !== null) {
    throw new ApiError(
      "management_key_not_allowed",
      "This is a management key (sk-m-…), which manages keys only. Send an ordinary key (sk-…).",
    );
  }
  if (kind === "management" && management === null) {
    throw new ApiError(
      "management_key_required",
      "This endpoint takes a management key (sk-m-…), and an ordinary key was sent.",
    );
  }
  // Whoever is no administrator any more must not go on managing the keys of everyone.
  if (kind === "management" && management === "all" && !account.admin) {
    throw new ApiError(
      "management_key_required",
      "This management key is for all accounts, and its own account is no longer an administrator's.",
    );
  }
}

function requireAddress(ranges: readonly string[], request: Request): void {
  const { address, isUnnamedProxy } = exchangeOf(request);
  // The listed address may be that of a proxy behind which the whole internet is.
  if (!isUnnamedProxy && addressTests()(ranges).some((holds) => holds(address))) return;
  const reason = isUnnamedProxy
    ? "the request came through a proxy that 'server.trusted_proxies' does not list"
    : `the request came from ${address}`;
  throw new ApiError(
    "address_not_allowed",
    `The list of addresses of this key ('addresses') does not allow the request: ${reason}.`,
  );
}
