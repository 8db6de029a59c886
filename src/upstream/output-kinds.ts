// The kinds of output that a client asks for.

import { ApiError } from "../base/errors.ts";
import type { ChatRequest } from "../chat/request.ts";

/** For protocols whose models answer in text alone. */
export const TEXT_ONLY: ReadonlySet<string> = new Set(["text"]);
/** For those that also have models that draw. */
export const PICTURES: ReadonlySet<string> = new Set(["text", "image"]);

/** Whether only text is asked for, which every model answers with. */
export function isTextOnly(kinds: readonly string[]): boolean {
  return kinds.every((kind) => kind === "text");
}

/** Throws 400 `unsupported_parameter` if a protocol has no such output. */
export function refuseKinds({ modalities }: ChatRequest, has: ReadonlySet<string>): void {
  if (modalities === undefined || modalities.every((kind) => has.has(kind))) return;
  const what = has === TEXT_ONLY ? "text only" : "text and pictures only";
  throw new ApiError("unsupported_parameter", `This model's provider answers in ${what}.`, { param: "modalities" });
}
