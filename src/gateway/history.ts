// The history of a responses request: what it names of earlier answers (`previous_response_id`, item references) becomes
// the items themselves, from the store of the caller's account. No upstream's own memory is relied on.

import { ApiError } from "../base/errors.ts";
import { prefixedId } from "../base/ids.ts";
import type { ResponseStore } from "../store/work/responses.ts";
import {
  inputItems,
  portableItems,
  referencedItems,
  resolveReferences,
  responseOfItem,
} from "../wire/responses/references.ts";
import type { Keep } from "./chat-exchange.ts";

/** A parsed JSON object. */
type Fields = Readonly<Record<string, unknown>>;

export interface HistoryDeps {
  store: Pick<ResponseStore, "responseChain" | "findResponse" | "findItems" | "saveResponse"> & {
    /** Lets an account's oldest texts go until it keeps no more than it may. */
    makeRoom(accountId: string, bytes: number): Promise<boolean>;
  };
  /** Configuration `responses`. */
  settings(): { store: boolean; retentionMs: number };
  nowMs(): number;
}

/** A request with its history. */
export interface Expanded {
  /** The body with all items in its input. */
  body: Fields;
  /** The input for an upstream of the same protocol: without ids that only this program knows. */
  portableInput: readonly unknown[] | undefined;
  /** Stores the answer; undefined when it is not to be stored. */
  keep: Keep | undefined;
}

/** A conversation longer than this fits no model's context. */
const HISTORY_BYTES_MAX = 32 * 1024 * 1024;
/** References of one request; each costs a look-up. */
const REFERENCES_MAX = 2000;

/** Reads the history. Throws 400 `previous_response_not_found`, or 413 `context_too_large`. */
export async function expandHistory(deps: HistoryDeps, accountId: string, body: Fields): Promise<Expanded> {
  const resolved = await withItems(deps, accountId, body);
  const own = inputItems(resolved);
  const previousId = typeof body["previous_response_id"] === "string" ? body["previous_response_id"] : undefined;
  const earlier = previousId === undefined ? [] : await earlierItems(deps, accountId, previousId);
  const { store, retentionMs } = deps.settings();
  const keep: Keep | undefined =
    (body["store"] ?? store) !== true
      ? undefined
      : async (answer) => {
          await deps.store.saveResponse({
            id: typeof answer["id"] === "string" ? answer["id"] : prefixedId("resp_"),
            accountId,
            model: String(answer["model"]),
            previousId: previousId ?? null,
            provider: null,
            upstreamId: null,
            input: own,
            body: answer,
            expiresAtMs: deps.nowMs() + retentionMs,
          });
          await deps.store.makeRoom(accountId, 0);
        };
  if (previousId === undefined && resolved === body) return { body, portableInput: undefined, keep };
  const { previous_response_id: _previous, ...rest } = resolved;
  const input = [...earlier, ...own];
  return { body: { ...rest, input }, portableInput: portableItems(input), keep };
}

async function earlierItems(deps: HistoryDeps, accountId: string, id: string): Promise<unknown[]> {
  const chain = await deps.store.responseChain(accountId, id, { bytesMax: HISTORY_BYTES_MAX });
  const param = "previous_response_id";
  if (chain?.tooLarge) throw new ApiError("context_too_large", "The conversation has become too long.", { param });
  if (chain === undefined || !chain.complete) {
    const which =
      chain === undefined ? `The response '${id.slice(0, 100)}'` : "An earlier response of this conversation";
    throw new ApiError("previous_response_not_found", `${which} was not found: it may be deleted or expired.`, {
      param,
    });
  }
  return chain.responses.flatMap(({ input, body }) => [
    ...input,
    ...(Array.isArray(body["output"]) ? (body["output"] as unknown[]) : []),
  ]);
}

/** The body with the items it refers to, as far as they are stored here. */
async function withItems(deps: HistoryDeps, accountId: string, body: Fields): Promise<Fields> {
  const ids = referencedItems(body).slice(0, REFERENCES_MAX);
  if (ids.length === 0) return body;
  const items = new Map<string, Fields>();
  const unknown: string[] = [];
  const responses = new Map<string, string[]>();
  for (const id of ids) {
    const response = responseOfItem(id);
    if (response === undefined) unknown.push(id);
    else responses.set(response, [...(responses.get(response) ?? []), id]);
  }
  for (const [response, wanted] of responses) {
    const stored = await deps.store.findResponse(accountId, response);
    const output = Array.isArray(stored?.body["output"]) ? (stored.body["output"] as Fields[]) : [];
    for (const item of output) if (wanted.includes(String(item["id"]))) items.set(String(item["id"]), item);
  }
  // Newest first; the one that was told last is meant.
  for (const item of await deps.store.findItems(accountId, unknown)) {
    const id = String(item["id"]);
    if (!items.has(id)) items.set(id, item);
  }
  return items.size === 0 ? body : resolveReferences(body, items);
}
