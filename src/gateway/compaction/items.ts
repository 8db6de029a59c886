// Compaction by protocol: the items and blocks in which clients carry records, and their requests for one. A record that was
// sealed here is opened for its account alone; a vendor's own goes to that vendor, or stands as text where it is readable.

import { ApiError } from "../../base/errors.ts";
import type { ModelRoute } from "../../catalog/models.ts";
import type { CarriedRecord, Element, OpenedRecord } from "../../chat/entries.ts";
import type { Provider } from "../../upstream/provider.ts";
import type { WireFormat } from "../../wire/format.ts";
import { emptyLedger } from "./ledger.ts";
import { recordText } from "./record.ts";
import { isSealedHere, type Sealer } from "./seal.ts";

/** True for providers that know the format's own compaction. */
export function compactsItself(provider: Provider, format: WireFormat): boolean {
  return provider.dialect.name === format.dialect && provider.quirks.compaction !== false;
}

/**
 * Members of a body that do not go up to a provider of its own format that knows nothing of compaction, and that nothing was
 * done for here. Throws 400 where the answer would be another one without them.
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

/** Seals all that goes up in place of what a client has sent, so that it may leave out everything before the item. */
export function sealList(
  list: readonly Element[],
  { sealer, accountId, format }: { sealer: Sealer; accountId: string; format: string },
): string {
  return sealer.sealText(JSON.stringify({ format, list }), accountId);
}

/** What is sealed: a record's text begins with its own mark, never so. */
function readSealed(opened: string, format: string): OpenedRecord | undefined {
  if (!opened.startsWith("{")) return { text: opened };
  const { format: of, list } = JSON.parse(opened) as { format: string; list: Element[] };
  return of === format ? { list } : undefined;
}

/** What is in a carried record; undefined: it is the upstream's to read. Throws 400 `invalid_compaction`. */
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
