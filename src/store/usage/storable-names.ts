// The texts of a record, of which a client may choose some, in a form that every database can store.

import { isStorable, storable } from "../../base/storable.ts";
import type { UsageRecord } from "./record.ts";

/** The members that are texts. */
export const TEXT_COLUMNS = [
  "requestId",
  "accountId",
  "keyId",
  "model",
  "provider",
  "upstreamModel",
  "endpoint",
  "errorCode",
] as const satisfies readonly (keyof UsageRecord)[];

/** The record with texts that every database can store, since a client may send any text as a model. */
export function withStorableNames(record: UsageRecord): UsageRecord {
  return hasStorableNames(record) ? record : storableNamed(record);
}

function storableNamed(record: UsageRecord): UsageRecord {
  const names = TEXT_COLUMNS.map((name) => [name, record[name] === null ? null : storable(record[name])]);
  return { ...record, ...Object.fromEntries(names) };
}

/** The texts of a record. */
type Names = Pick<UsageRecord, (typeof TEXT_COLUMNS)[number]>;

/** Those of the last record that can be stored. Nearly all of the next one are the same. */
let known: Names | undefined;
/** Longer texts are not kept. */
const KEPT_CHARS_MAX = 200;

/** Whether every database can store the texts of a record. */
export function hasStorableNames(record: UsageRecord): boolean {
  if (known !== undefined && hasNames(record, known)) return isStorable(record.requestId);
  let isShort = true;
  for (const name of TEXT_COLUMNS) {
    const text = record[name];
    if (text === null) continue;
    if (!isStorable(text)) return false;
    isShort &&= text.length <= KEPT_CHARS_MAX;
  }
  if (isShort) {
    const { requestId, accountId, keyId, model, provider, upstreamModel, endpoint, errorCode } = record;
    known = { requestId, accountId, keyId, model, provider, upstreamModel, endpoint, errorCode };
  }
  return true;
}

/** Whether all texts of a record but its id are these. */
function hasNames(record: UsageRecord, names: Names): boolean {
  return (
    record.accountId === names.accountId &&
    record.keyId === names.keyId &&
    record.model === names.model &&
    record.provider === names.provider &&
    record.upstreamModel === names.upstreamModel &&
    record.endpoint === names.endpoint &&
    record.errorCode === names.errorCode
  );
}
