// The list of provider cards: one line each.

import type { ProviderCard } from "../provider.ts";

/** What is known of vendors, by the preset names of the configuration. */
export const CARDS: readonly ProviderCard[] = [];
