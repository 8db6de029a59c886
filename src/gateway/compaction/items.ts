// Compaction by protocol: the items and blocks in which clients carry records, and their requests for one. A record that was
// sealed here is opened for its account alone; a vendor's own goes to that vendor, or stands as text where it is readable.

import { ApiError } from "../../base/errors.ts";
import type { ModelRoute } from "../../catalog/models.ts";
import type { CarriedRecord } from "../../chat/entries.ts";
import type { Provider } from "../../upstream/provider.ts";
import type { WireFormat } from "../../wire/format.ts";
import { emptyLedger } from "./ledger.ts";
import { recordText } from "./record.ts";
import { isSealedHere, type Sealer } from "./seal.ts";

/** True for providers that know the format's own compaction. */
export function compactsItself(provider: Provider, format: WireFormat): boolean {
  return provider.dialect.name === format.dialect && provider.quirks.compaction !== false;
}

/** The routes whose providers know the format's own compaction. */
export function nativeRoutes(
  routes: readonly ModelRoute[],
  format: WireFormat,
  find: (name: string) => Provider | undefined,
): ModelRoute[] {
  return routes.filter((route) => {
    const provider = find(route.provider);
    return provider !== undefined && compactsItself(provider, format);
  });
}

/** What a carried record says; undefined: it is the upstream's to read. Throws 400 `invalid_compaction`. */
export function openRecord(
  { sealed, text }: CarriedRecord,
  { sealer, accountId, isNative, param }: { sealer: Sealer; accountId: string; isNative: boolean; param: string },
): string | undefined {
  if (sealed !== undefined && isSealedHere(sealed)) {
    const opened = sealer.openText(sealed, accountId);
    if (opened !== undefined) return opened;
    const message = "The compaction cannot be opened: it is of another account or gateway, or was changed.";
    throw new ApiError("invalid_compaction", message, { param });
  }
  if (isNative) return undefined;
  if (text !== undefined) return recordText({ summary: text, ledger: emptyLedger(), messages: 0, omitted: 0 });
  throw new ApiError("invalid_compaction", "The compaction is of a provider that does not answer for this model.", {
    param,
  });
}
