// An account's own conversations: list, show one, delete.

import { ApiError } from "../../base/errors.ts";
import { isoTime } from "../../base/iso-time.ts";
import type { OwnedThreads } from "../../gateway/endpoints/conversations/owned-threads.ts";
import type { ThreadKind, ThreadRow, ThreadView } from "../contract-threads.ts";
import { type Endpoint, type MemberRequest, member } from "./endpoint.ts";

export interface ThreadsApiDeps {
  readonly threads: OwnedThreads;
}

const KINDS: readonly ThreadKind[] = ["thread", "conversation", "messages"];

/** The endpoints of conversations. */
export function threadsApi({ threads }: ThreadsApiDeps): Endpoint[] {
  return [
    member("GET", "/threads", async ({ who }): Promise<{ data: ThreadRow[] }> => {
      const rows = await threads.list(who.account.id);
      return {
        data: rows.map(({ createdAtMs, updatedAtMs, kind, id, model, messages, tokens, bytes }) => ({
          ...{ kind, id, model, messages, tokens, bytes },
          created_at: isoTime(createdAtMs),
          updated_at: isoTime(updatedAtMs),
        })),
      };
    }),

    member("GET", "/threads/:kind/:id", async (visit): Promise<ThreadView> => {
      const { accountId, kind, threadId } = nameOf(visit);
      const said = await threads.read({ accountId, kind, threadId });
      if (said === undefined) throw notThere();
      const summaries = said.summaries.map(({ createdAtMs, tokens, text }) => ({
        created_at: isoTime(createdAtMs),
        tokens,
        text,
      }));
      return { kind, id: threadId, messages: said.messages, summaries };
    }),

    member("DELETE", "/threads/:kind/:id", async (visit) => {
      if (!(await threads.remove(nameOf(visit)))) throw notThere();
      return { success: true };
    }),
  ];
}

function nameOf({ who, params }: MemberRequest): { accountId: string; kind: ThreadKind; threadId: string } {
  const kind = KINDS.find((one) => one === params["kind"]);
  if (kind === undefined) throw notThere();
  return { accountId: who.account.id, kind, threadId: params["id"] ?? "" };
}

function notThere(): ApiError {
  return new ApiError("thread_not_found", "There is no such conversation: it may have been deleted or have expired.");
}
