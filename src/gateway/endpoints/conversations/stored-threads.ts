// GET and DELETE of threads. A thread belongs to an account; for other accounts it does not exist.

import type { AtOnce } from "../../../base/at-once.ts";
import { endpointsBehind, type ServedEndpoint } from "../../../http/served-endpoint.ts";
import { threadNotFound } from "../../rules/not-found.ts";
import type { CompactionMemory } from "../../stages/compaction/memory.ts";
import type { KeptThreads } from "../../stages/threads/kept.ts";
import { gatewayText } from "../texts.ts";

export interface StoredThreadsDeps {
  threads: KeptThreads;
  memory: CompactionMemory;
  /** The setting `compaction.enabled`. */
  enabled(): boolean;
  /** Identifies the caller. Throws 401. */
  authenticate(request: Request): AtOnce<{ accountId: string }>;
}

const keyed = endpointsBehind("key", ({ authenticate }: StoredThreadsDeps, request) => authenticate(request));

/** The endpoints of threads. */
export const THREAD_ENDPOINTS: readonly ServedEndpoint<StoredThreadsDeps>[] = [
  keyed("GET", "/v1/threads/:id", {
    describe: gatewayText("getThread"),
    handle: async ({ threads, enabled }, { request, params: { id: threadId }, caller: { accountId } }) => {
      const name = { accountId, kind: "thread" as const, threadId };
      const found = enabled() ? await threads.find(name) : undefined;
      if (found === undefined) throw threadNotFound(threadId);
      const { row, text } = found;
      const compactions = await threads.load(name);
      const { searchParams } = new URL(request.url);
      const withText = [...searchParams.getAll("include"), ...searchParams.getAll("include[]")].includes("messages");
      return Response.json({
        id: threadId,
        object: "thread",
        model: row.model,
        created_at: seconds(row.createdAtMs),
        updated_at: seconds(row.updatedAtMs),
        messages: row.messages,
        tokens: row.tokens,
        bytes: row.state.length,
        summaries: compactions
          .filter(({ record }) => record !== undefined)
          .map(({ createdAtMs, tokens, record }) => ({
            created_at: seconds(createdAtMs),
            tokens,
            ...(withText ? { text: record } : {}),
          })),
        // The items are in the format of the client that sent them.
        ...(withText ? { format: text.format, items: text.messages } : {}),
      });
    },
  }),
  keyed("DELETE", "/v1/threads/:id", {
    describe: gatewayText("deleteThread"),
    handle: async ({ threads, memory }, { params: { id: threadId }, caller: { accountId } }) => {
      memory.forget({ accountId, threadId, opening: "" });
      if (!(await threads.remove({ accountId, kind: "thread", threadId }))) throw threadNotFound(threadId);
      return Response.json({ id: threadId, object: "thread", deleted: true });
    },
  }),
];

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
