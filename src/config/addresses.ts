// The addresses of the configured providers, as their texts may quote them. They may name hosts within the operator's network, so
// clients do not see them.

import type { Config } from "./schema.ts";

/** The origin, and the host with and without its port, of every provider's base_url. */
export function addressesOf({ providers }: Pick<Config, "providers">): string[] {
  const found = new Set<string>();
  for (const { baseUrl } of providers) {
    if (!URL.canParse(baseUrl)) continue;
    const { origin, hostname, port, protocol } = new URL(baseUrl);
    const ownPort = port === "" ? (protocol === "https:" ? "443" : "80") : port;
    found.add(origin).add(`${hostname}:${ownPort}`);
    // A name without a dot may be an ordinary word, such as `ollama`.
    if (/[.:]/.test(hostname)) found.add(hostname);
  }
  return [...found];
}
