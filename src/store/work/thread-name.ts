// How a stored conversation is identified.

import type { threads } from "./schema.ts";

/** Identifies a thread. */
export interface ThreadName {
  readonly accountId: string;
  readonly kind: (typeof threads.$inferSelect)["kind"];
  readonly threadId: string;
}
