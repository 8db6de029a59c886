// Prepares a request before routing: replaces references to stored history and uploaded files with their content.

import { ApiError } from "../../base/errors.ts";
import type { ModelRoute } from "../../catalog/models.ts";
import type { FileStore } from "../../store/work/files.ts";
import type { Provider } from "../../upstream/provider.ts";
import type { WireFormat } from "../../wire/format.ts";
import { nativeRoutes, openRecord } from "../stages/compaction/items.ts";
import type { Sealer } from "../stages/compaction/seal.ts";
import { withFiles } from "../stages/files/media.ts";
import { expandHistory, type HistoryDeps } from "../stages/history/history.ts";
import type { GatewayThread, GatewayThreads } from "../stages/threads/gateway-threads.ts";
import { supportsThreads, threadOf } from "../stages/threads/upstream-threads.ts";
import type { Prepared, PreparedRequest } from "./deps.ts";

export interface PrepareDeps {
  history: HistoryDeps;
  files: FileStore;
  sealer: Sealer;
  gatewayThreads: GatewayThreads;
  provider(name: string): Provider | undefined;
}

/** The members that this step may have changed. */
const MEMBERS = [
  "messages",
  "input",
  "previous_response_id",
  "conversation",
  "thread",
  "store",
  "system",
  "tools",
] as const;

/** Creates the step; it returns undefined if there is nothing to do. */
export function createPrepare(deps: PrepareDeps): (draft: PreparedRequest) => Promise<Prepared | undefined> {
  return async (draft) => {
    const { caller, format, body: sent, chat, options } = draft;
    const body = caller.noStore ? withoutStore(sent, format) : sent;
    if (format.storesAnswers !== true) {
      const thread = await openGatewayThread(deps, draft);
      const filled = await withFiles(deps.files, caller.accountId, thread?.body ?? body, sent);
      const { body: open, routes } = withRecords(deps, draft, filled);
      if (open === sent) return routes === undefined ? undefined : { chat, members: {}, routes };
      const more = {
        ...(thread === undefined ? {} : { gatewayThread: thread }),
        ...(routes === undefined ? {} : { routes }),
        ...(thread?.threadId === undefined
          ? {}
          : { keptConversation: { id: thread.threadId, keeps: "nothing" as const } }),
      };
      return { chat: format.decode(open, options), members: changed(open, sent), ...more };
    }
    const {
      body: expanded,
      portableInput,
      stores,
      keep,
      conversationId,
    } = await expandHistory(deps.history, caller, body);
    const filled = await withFiles(deps.files, caller.accountId, expanded, sent);
    const { body: open, routes } = withRecords(deps, draft, filled);
    const read = open === sent ? chat : format.decode(open, options);
    const members = changed(open, sent);
    if (portableInput !== undefined) {
      const portable = await withFiles(deps.files, caller.accountId, { input: portableInput }, sent);
      members["input"] = withRecords(deps, draft, portable).body["input"];
    }
    const dropped: string[] = [];
    if (body["background"] === true) {
      // The client cannot poll for a background response here, so it waits and gets the complete answer.
      members["background"] = undefined;
      dropped.push("background");
    }
    const stored = { ...read, store: stores };
    const more = {
      ...(keep === undefined ? {} : { keep }),
      ...(routes === undefined ? {} : { routes }),
      ...(conversationId === undefined
        ? {}
        : { keptConversation: { id: conversationId, keeps: "conversation" as const } }),
    };
    return { chat: stored, members, dropped, ...more };
  };
}

/** The body without the request to store the answer. For providers that store by default, it states that they should not. */
function withoutStore(body: Readonly<Record<string, unknown>>, format: WireFormat): Readonly<Record<string, unknown>> {
  return format.storesAnswers === true || body["store"] === true ? { ...body, store: false } : body;
}

/** Opens a conversation that the gateway holds, because no provider of the model holds conversations, or none holds this one. */
async function openGatewayThread(
  { gatewayThreads, provider }: PrepareDeps,
  draft: PreparedRequest,
): Promise<GatewayThread | undefined> {
  const { format, body, caller, exchange, routes } = draft;
  if (format.hasThreads !== true || body["thread"] == null) return undefined;
  // A provider that holds threads would store the text. After the refusal, clients send their history.
  if (caller.noStore) {
    throw new ApiError(
      "unsupported_parameter",
      "This key was created so that the content of its requests is not stored. Send the history instead.",
      {
        param: "thread",
        details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
      },
    );
  }
  const isNative = draft.isThreadKeptHere !== true && routes.some((route) => supportsThreads(provider(route.provider)));
  // A thread that the gateway holds continues here, whichever provider serves the model now.
  if (isNative && !(await gatewayThreads.has(caller.accountId, threadOf(format, body)?.previousId))) return undefined;
  return gatewayThreads.open(format, body, { accountId: caller.accountId, exchange });
}

/** The body with the records in it opened; unchanged if there are none. A vendor's own records restrict the routes. */
export function withRecords(
  { sealer, provider }: Pick<PrepareDeps, "sealer" | "provider">,
  { caller, format, routes }: Pick<PreparedRequest, "caller" | "format" | "routes">,
  body: Readonly<Record<string, unknown>>,
): { body: Readonly<Record<string, unknown>>; routes?: readonly ModelRoute[] } {
  const { entries } = format;
  if (entries === undefined || !Array.isArray(body[entries.member])) return { body };
  const list = entries.list(body);
  let native: readonly ModelRoute[] | undefined;
  const opened = entries.expand(list, (record, param) => {
    const able = nativeRoutes(routes, format, provider);
    const isNative = able.length > 0;
    const { accountId } = caller;
    const read = openRecord(record, { sealer, accountId, format: format.name, isNative, param });
    if (read === undefined) native = able;
    return read;
  });
  return {
    body: opened === list ? body : { ...body, [entries.member]: opened },
    ...(native === undefined ? {} : { routes: native }),
  };
}

/** The members that differ from the client's; undefined for those to leave out. */
function changed(now: Readonly<Record<string, unknown>>, body: Readonly<Record<string, unknown>>) {
  const members: Record<string, unknown> = {};
  for (const key of MEMBERS) if (now[key] !== body[key]) members[key] = now[key];
  return members;
}
