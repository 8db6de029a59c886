// Finds vendors by preset name or by the host of their API.

import { VENDORS } from "./index.ts";
import { type DialectName, kindFacts, PROTOCOLS, PROVIDER_KINDS, type ProviderKind } from "./protocols.ts";
import type { Vendor, VendorApi } from "./vendor.ts";

/** A vendor with an API. */
export type CallableVendor = Vendor & { readonly api: VendorApi };

/** Every vendor with an API, in the order of the list. */
export const CALLABLE: readonly CallableVendor[] = VENDORS.filter(
  (vendor): vendor is CallableVendor => vendor.api !== undefined,
);

/** The prefixes of vendors' API keys, as alternatives of a regular expression. */
export const KEY_BEGINNINGS = [...new Set(CALLABLE.flatMap(({ api }) => api.keyBegins ?? []))]
  .map((text) => RegExp.escape(text))
  .join("|");

/** The vendor of that name, if it has an API. */
export function findVendor(name: string | undefined): CallableVendor | undefined {
  return CALLABLE.find((vendor) => vendor.name === name);
}

/** The vendor of a host. */
export function vendorAt(host: string): CallableVendor | undefined {
  return CALLABLE.find(({ api }) => api.domains?.some((domain) => host === domain || host.endsWith(`.${domain}`)));
}

/**
 * The name of a provider in traces: that of the host's vendor, else that of its protocol, kind or preset.
 */
export function traceNameOf(host: string, speaks: string): string {
  const byHost = vendorAt(host)?.api.traceName;
  if (byHost !== undefined) return byHost;
  if (Object.hasOwn(PROTOCOLS, speaks)) return PROTOCOLS[speaks as DialectName].traceName;
  const generic = Object.values(PROTOCOLS).find((protocol) => protocol.generic === speaks);
  if (generic !== undefined) return generic.traceName;
  if (!Object.hasOwn(PROVIDER_KINDS, speaks)) return findVendor(speaks)?.api.traceName ?? speaks;
  const { dialect, traceName = speaks } = kindFacts(speaks as ProviderKind);
  return dialect === undefined ? traceName : PROTOCOLS[dialect].traceName;
}
