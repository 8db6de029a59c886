// Compaction by protocol: the items and blocks in which clients carry records, and their requests for one. A record sealed
// here is opened for its account only; a vendor's own is sent to that vendor, or becomes text if it is readable.

import { ApiError } from "../../base/errors.ts";
import type { ModelRoute } from "../../catalog/models.ts";
import type { CarriedRecord, Element, OpenedRecord } from "../../chat/entries.ts";
import type { Provider } from "../../upstream/provider.ts";
import type { WireFormat } from "../../wire/format.ts";
import { emptyLedger } from "./ledger.ts";
import { recordText } from "./record.ts";
import { isSealedHere, type Sealer } from "./seal.ts";

/** Whether a provider supports the format's own compaction. */
export function compactsItself(provider: Provider, format: WireFormat): boolean {
  return provider.dialect.name === format.dialect && provider.quirks.compaction !== false;
}

/**
 * Members of a body that are not sent to a provider of its own format that lacks compaction, and that had no effect here.
 * Throws 400 if dropping them would change the answer.
 */
export function compactionMembers(body: Element, members: Element, format: WireFormat): string[] {
  const { editing } = format.entries ?? {};
  const isAsked = format.entries?.asksRecord(body) !== undefined;
  const asks = format.untranslatable.find((name) => name === "compaction" && body[name] != null);
  const param = asks ?? (isAsked ? format.entries?.member : undefined);
  if (param !== undefined) {
    throw new ApiError("unsupported_parameter", "This model's provider does not know compaction.", { param });
  }
  const isLeft = editing !== undefined && body[editing.member] != null && !Object.hasOwn(members, editing.member);
  return isLeft ? [editing.member] : [];
}

/** The routes whose providers support the format's own compaction. */
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

/** Seals what is sent upstream instead of the client's messages, so that the client may drop everything before the item. */
export function sealList(
  list: readonly Element[],
  { sealer, accountId, format }: { sealer: Sealer; accountId: string; format: string },
): string {
  return sealer.sealText(JSON.stringify({ format, list }), accountId);
}

/** The prefix of a sealed list: a record's text begins with its own mark, never with this. */
function readSealed(opened: string, format: string): OpenedRecord | undefined {
  if (!opened.startsWith("{")) return { text: opened };
  const { format: of, list } = JSON.parse(opened) as { format: string; list: Element[] };
  return of === format ? { list } : undefined;
}

/** The content of a carried record; undefined: only the upstream can read it. Throws 400 `invalid_compaction`. */
export function openRecord(
  { sealed, text }: CarriedRecord,
  {
    sealer,
    accountId,
    format,
    isNative,
    param,
  }: { sealer: Sealer; accountId: string; format: string; isNative: boolean; param: string },
): OpenedRecord | undefined {
  if (sealed !== undefined && isSealedHere(sealed)) {
    const opened = sealer.openText(sealed, accountId);
    const read = opened === undefined ? undefined : readSealed(opened, format);
    if (read !== undefined) return read;
    const message = "The compaction cannot be opened: it is of another account or gateway, or was changed.";
    throw new ApiError("invalid_compaction", message, { param });
  }
  if (isNative) return undefined;
  if (text !== undefined) {
    return { text: recordText({ summary: text, ledger: emptyLedger(), messages: 0, omitted: 0 }) };
  }
  throw new ApiError("invalid_compaction", "The compaction is of a provider that does not answer for this model.", {
    param,
  });
}
