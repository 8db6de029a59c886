// What is probably wrong with a provider's entry although it can be read: known from the vendor's facts, without asking it.

import { findVendor, vendorAt } from "../vendors/look-up.ts";
import { isEmbedded } from "../vendors/protocols.ts";
import type { Problem } from "./read.ts";
import type { ProviderConfig } from "./schema.ts";
import { joinPath } from "./show.ts";

/** Headers that may carry a credential of their own. */
const CREDENTIAL_HEADER = /auth|key|token/i;

/** Each doubt with the key it concerns; none for servers of unknown vendors, which may need neither key nor version. */
export function doubtsAbout(provider: ProviderConfig): Problem[] {
  if (isEmbedded(provider) || !URL.canParse(provider.baseUrl)) return [];
  const url = new URL(provider.baseUrl);
  // A cloud may share its domain with another API of its vendor.
  const named = findVendor(provider.preset);
  const vendor = named?.api.cloud === undefined ? vendorAt(url.hostname) : named;
  if (vendor === undefined) return [];
  const { title, api } = vendor;
  const at = joinPath("providers", provider.name);
  const doubts: Problem[] = [];
  const hasCredential =
    provider.apiKeys.length > 0 ||
    (provider.credentials?.kind ?? "key") !== "key" ||
    url.password !== "" ||
    Object.keys(provider.headers).some((name) => CREDENTIAL_HEADER.test(name));
  if (!hasCredential) {
    const variable = api.variable?.holds === "key" ? ` or ${api.variable.name}` : "";
    doubts.push({ path: `${at}.api_key`, message: `is empty, and ${title} needs a key: set it${variable}` });
  }
  if (provider.apiKeys.some((key) => /\s/.test(key)))
    doubts.push({ path: `${at}.api_key`, message: "contains a blank" });
  if (url.pathname === "/" && api.baseUrl !== "" && new URL(api.baseUrl).pathname !== "/") {
    doubts.push({ path: `${at}.base_url`, message: `has no path; that of ${title} is ${api.baseUrl}` });
  }
  return doubts;
}
