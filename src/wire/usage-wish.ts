// Whether a client wants usage at the end of a stream, and the cost of the answer in it.

import { isRecord } from "../base/json-object.ts";
import { expectBoolean, expectFields, type Fields, maybe } from "./check.ts";
import type { DecodeOptions } from "./format.ts";

/** OpenRouter always sends the usage in streams, so its provider for the AI SDK expects it without requesting it. */
const PRESUMES_USAGE = /^ai-sdk\/openrouter\//;

/** Whether usage was requested by `stream_options.include_usage`, or by OpenRouter's `usage: {include: true}`. */
export function wantsUsage(body: Fields, { userAgent = "" }: DecodeOptions): boolean {
  const options = maybe(body, "stream_options", expectFields);
  const asked = options && maybe(options, "include_usage", expectBoolean, "stream_options");
  return asked ?? (wantsCost(body) === true || PRESUMES_USAGE.test(userAgent));
}

/** Whether the cost was requested by OpenRouter's `usage: {include: true}`; undefined if not. */
export function wantsCost(body: Fields): true | undefined {
  const usage = body["usage"];
  return isRecord(usage) && usage["include"] === true ? true : undefined;
}
