// The addresses of the configured providers, as their texts may quote them. They may name hosts within the operator's network, so
// clients do not see them.

import { filled } from "../vendors/cloud.ts";
import { findVendor } from "../vendors/look-up.ts";
import type { Config, ProviderConfig } from "./schema.ts";

/** The origin, and the host with and without its port, of every provider's base_url. */
export function addressesOf({ providers }: Pick<Config, "providers">): string[] {
  const found = new Set<string>();
  for (const baseUrl of providers.flatMap((one) => [one.baseUrl, ...otherOrigins(one)])) {
    if (!URL.canParse(baseUrl)) continue;
    const { origin, hostname, port, protocol } = new URL(baseUrl);
    const ownPort = port === "" ? (protocol === "https:" ? "443" : "80") : port;
    found.add(origin).add(`${hostname}:${ownPort}`);
    // A name without a dot may be an ordinary word, such as `ollama`.
    if (/[.:]/.test(hostname)) found.add(hostname);
  }
  return [...found];
}

/** A cloud may have a second host. */
function otherOrigins(provider: ProviderConfig): string[] {
  const { offers = [] } = findVendor(provider.preset)?.api.cloud ?? {};
  return offers.flatMap(({ origin }) => (origin === undefined ? [] : [filled(origin, provider)]));
}
