// GET and DELETE of stored responses. A response belongs to an account; for other accounts it does not exist.

import type { AtOnce } from "../../../base/at-once.ts";
import { ApiError } from "../../../base/errors.ts";
import { jsonAnswer } from "../../../http/json-answer.ts";
import { admittingEndpoint, endpointsBehind, type ServedEndpoint } from "../../../http/served-endpoint.ts";
import { SSE_HEADERS } from "../../../http/sse-response.ts";
import { wantsSocket } from "../../../http/web-socket.ts";
import type { ResponseStore } from "../../../store/work/responses.ts";
import { ENCRYPTED_REASONING, shownAnswer, shownItem } from "../../../wire/responses/stored.ts";
import { gatewayText } from "../texts.ts";

export interface StoredResponsesDeps {
  store: Pick<ResponseStore, "findResponse" | "deleteResponse">;
  /** Identifies the caller. Throws 401. */
  authenticate(request: Request): AtOnce<{ accountId: string }>;
  /** Answers an upgrade to a WebSocket. */
  openSocket(request: Request): Promise<Response>;
}

const keyed = endpointsBehind("key", ({ authenticate }: StoredResponsesDeps, request) => authenticate(request));

/** The endpoints of stored responses. */
export const STORED_RESPONSES: readonly ServedEndpoint<StoredResponsesDeps>[] = [
  keyed("GET", "/v1/responses/:id", {
    describe: gatewayText("getResponse"),
    handle: async ({ store }, { request, params: { id }, caller }) => {
      const found = await store.findResponse(caller.accountId, id);
      if (found === undefined) throw notFound(id);
      const { searchParams } = new URL(request.url);
      const answer = shownAnswer(found.body, { encrypted: asksEncrypted(searchParams) });
      if (searchParams.get("stream") !== "true") return jsonAnswer(request, answer);
      const after = sequenceNumber(searchParams.get("starting_after"));
      const { replayResponse } = await import("../../../wire/responses/replay.ts");
      return new Response(replayResponse(answer, after === undefined ? {} : { after }), { headers: SSE_HEADERS });
    },
  }),
  // The input items of the answer's own request, newest first, as OpenAI lists them.
  keyed("GET", "/v1/responses/:id/input_items", {
    describe: gatewayText("listResponseInputItems"),
    handle: async ({ store }, { request, params: { id }, caller }) => {
      const found = await store.findResponse(caller.accountId, id);
      if (found === undefined) throw notFound(id);
      const { searchParams } = new URL(request.url);
      const encrypted = asksEncrypted(searchParams);
      const items = found.input.map((item, i) => ({
        id: `${id}_${i}`,
        ...shownItem(item as Record<string, unknown>, { encrypted }),
      }));
      const ascending = searchParams.get("order") === "asc";
      const data = ascending ? items : items.reverse();
      const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
      return jsonAnswer(request, { object: "list", data, has_more: false, ...ends });
    },
  }),
  keyed("DELETE", "/v1/responses/:id", {
    describe: gatewayText("deleteResponse"),
    handle: async ({ store }, { params: { id }, caller }) => {
      if (!(await store.deleteResponse(caller.accountId, id))) throw notFound(id);
      return Response.json({ id, object: "response", deleted: true });
    },
  }),
  admittingEndpoint("key", "GET", "/v1/responses", {
    describe: gatewayText("openResponsesSocket"),
    handle: async ({ authenticate, openSocket }, { request }) => {
      if (wantsSocket(request)) return openSocket(request);
      await authenticate(request);
      throw new ApiError("upgrade_required", "Connect by WebSocket, or use POST /v1/responses.");
    },
  }),
];

/** Whether a query asks for encrypted reasoning. The SDKs write lists with brackets. */
export function asksEncrypted(query: URLSearchParams): boolean {
  return ["include", "include[]"].some((name) => query.getAll(name).includes(ENCRYPTED_REASONING));
}

function sequenceNumber(given: string | null): number | undefined {
  if (given === null) return undefined;
  if (/^\d{1,9}$/.test(given)) return Number(given);
  throw new ApiError("invalid_request", "Invalid 'starting_after': expected a sequence number.", {
    param: "starting_after",
  });
}

function notFound(id: string): ApiError {
  return new ApiError(
    "response_not_found",
    `There is no response '${id.slice(0, 100)}': it may have been deleted or have expired.`,
  );
}
