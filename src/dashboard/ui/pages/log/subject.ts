// What a request was about, as the log and the overview name it.

import type { LogRowView } from "../../../contract-log.ts";

/** The model, or the name that was asked for in vain, or the endpoint. */
export function subjectOf({ model, asked_model: asked, endpoint }: LogRowView): string {
  return model || (asked === "" ? endpoint : `“${asked}”`);
}
