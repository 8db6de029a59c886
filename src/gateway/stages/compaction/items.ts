// Compaction as the protocols express it: the items and blocks in which clients carry records, and the members that request one.
// A record that the gateway sealed can only be opened for its account. A vendor's own record is sent to that vendor; for other
// vendors it becomes text if it is readable.

import { ApiError } from "../../../base/errors.ts";
import type { ModelRoute } from "../../../catalog/models.ts";
import type { CarriedRecord, Element, OpenedRecord } from "../../../chat/entries.ts";
import type { Provider } from "../../../upstream/provider.ts";
import type { WireFormat } from "../../../wire/format.ts";
import { emptyLedger } from "./ledger.ts";
import { recordText } from "./record.ts";
import { isSealedHere, type Sealer } from "./seal.ts";

/** Whether a provider supports compaction as the format defines it. */
export function compactsItself(provider: Provider, format: WireFormat): boolean {
  return provider.dialect.name === format.dialect && provider.quirks.compaction !== false;
}

/**
 * Members of a body that are removed before it is sent to a provider of its own format that lacks compaction, since they have no
 * effect there. Throws 400 if removing them would change the answer.
 */
export function compactionMembers(body: Element, members: Element, format: WireFormat): string[] {
  const { editing } = format.entries ?? {};
  const isAsked = format.entries?.asksRecord(body) !== undefined;
  const asks = format.untranslatable.find((name) => name === "compaction" && body[name] != null);
  const param = asks ?? (isAsked ? format.entries?.member : undefined);
  if (param !== undefined) {
    throw new ApiError(
      "unsupported_parameter",
      "This model's provider does not support compaction. Leave it out, or use another model.",
      { param },
    );
  }
  const isLeft = editing !== undefined && body[editing.member] != null && !Object.hasOwn(members, editing.member);
  return isLeft ? [editing.member] : [];
}

/** The routes whose providers support compaction as the format defines it. */
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

/** Seals the messages that are sent upstream in place of the client's, so that the client may drop everything before the item. */
export function sealList(
  list: readonly Element[],
  { sealer, accountId, format }: { sealer: Sealer; accountId: string; format: string },
): string {
  return sealer.sealText(JSON.stringify({ format, list }), accountId);
}

/**
 * Reads opened text: a sealed list of messages, which is JSON, or the text of a record, which never begins with a brace.
 * Undefined if the list belongs to another format.
 */
function readSealed(opened: string, format: string): OpenedRecord | undefined {
  if (!opened.startsWith("{")) return { text: opened };
  const { format: of, list } = JSON.parse(opened) as { format: string; list: Element[] };
  return of === format ? { list } : undefined;
}

/** The content of a record that a client sent; undefined if only the upstream can read it. Throws 400 `invalid_compaction`. */
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
    const message =
      "This compaction cannot be opened: it belongs to another account or gateway, or it was changed. Send the messages instead.";
    throw new ApiError("invalid_compaction", message, { param });
  }
  if (isNative) return undefined;
  if (text !== undefined) {
    return { text: recordText({ summary: text, ledger: emptyLedger(), messages: 0, omitted: 0 }) };
  }
  throw new ApiError(
    "invalid_compaction",
    "This compaction was made by a provider that does not serve this model. Send the messages instead.",
    {
      param,
    },
  );
}
