// Answers a request for a record of its conversation with one compaction item or block, which the gateway makes because the
// model's providers cannot. If a stream was requested, the client gets keepalives while the record is written.

import { prefixedId } from "../../base/ids.ts";
import type { ChatEvent, Usage } from "../../chat/event.ts";
import { fold } from "../../chat/fold.ts";
import { asApiError } from "../../http/errors.ts";
import { sseResponse } from "../../http/sse-response.ts";
import { framesWithoutStore } from "../stages/history/not-kept.ts";
import { keepMade } from "./accounting.ts";
import { type AdmittedRequest, writerContext } from "./chat-exchange.ts";
import type { GatewayDeps } from "./deps.ts";

/** How long the headers of a stream wait for the record. */
const HEADERS_MS = 5000;

/** Answers with a record. */
export async function answerRecord(deps: GatewayDeps, request: Request, admitted: AdmittedRequest): Promise<Response> {
  const events = recordEvents(deps, admitted, request.signal);
  if (!admitted.chat.stream) {
    const { said, usage } = await events;
    const body = admitted.format.encode(fold(said), recordContext(admitted, usage));
    const isKept = await keepMade(deps, admitted, () => body);
    return Response.json(isKept || body["store"] !== true ? body : { ...body, store: false });
  }
  const { exchange, format } = admitted;
  // An error is handled when the client's stream reads the events.
  events.catch(() => undefined);
  // A record that is made at once, as one without a summary is, can still be named in the headers.
  await Promise.race([events.catch(() => undefined), Bun.sleep(HEADERS_MS)]);
  exchange.streaming = true;
  deps.streamOpened?.();
  let state: "waiting" | "writing" | "over" = "waiting";
  const settle = () => {
    if (state === "over") return;
    state = "over";
    deps.streamClosed?.();
    exchange.finish(200);
  };
  return sseResponse(
    {
      async next() {
        if (state === "waiting") {
          // The headers are sent with the first bytes, so from here on errors are part of the stream.
          state = "writing";
          return format.keepalive;
        }
        if (state === "over") return undefined;
        let writer = format.writer(writerContext(admitted, undefined));
        try {
          const { said, usage } = await events;
          writer = format.writer(recordContext(admitted, usage));
          const text = said.map((event) => writer.push(event)).join("") + writer.end();
          const { answer } = writer;
          const isKept = answer === undefined || (await keepMade(deps, admitted, () => answer));
          settle();
          return isKept ? text : framesWithoutStore(text);
        } catch (error) {
          exchange.log["error"] = asApiError(error).apiCode;
          settle();
          return writer.fail({ ...asApiError(error).body(), request_id: exchange.requestId });
        }
      },
      cancel: settle,
    },
    { keepalive: format.keepalive, signal: request.signal },
  );
}

/** A record before an answer reports its cost beside the answer's own, which is still zero. */
function recordContext(admitted: AdmittedRequest, usage: Usage) {
  const dress = writerContext(admitted, undefined);
  return dress.edited === undefined ? dress : { ...dress, edited: { ...dress.edited, usage } };
}

async function recordEvents(
  deps: GatewayDeps,
  admitted: AdmittedRequest,
  signal: AbortSignal,
): Promise<{ said: ChatEvent[]; usage: Usage }> {
  const { compaction } = deps;
  const { entries, name } = admitted.format;
  if (compaction === undefined || entries === undefined) throw new Error("Compaction is not available.");
  const { text, sealed, usage } = await compaction.record(admitted, signal);
  const value = entries.record({ id: prefixedId("cmp_"), text, sealed });
  const own = admitted.compactable?.edited === undefined ? usage : { inputTokens: 0, outputTokens: 0 };
  const said: ChatEvent[] = [
    { type: "start" },
    { type: "opaque", choice: 0, origin: name, value },
    { type: "finish", choice: 0, reason: "compaction", rawReason: "compaction", usage: own },
  ];
  return { said, usage };
}
