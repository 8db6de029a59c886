// How a conversation that is kept is named.

import type { threads } from "./schema.ts";

/** Which thread is meant. */
export interface ThreadName {
  readonly accountId: string;
  readonly kind: (typeof threads.$inferSelect)["kind"];
  readonly threadId: string;
}
