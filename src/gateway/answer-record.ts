// The answer to a request for a record of its conversation: one compaction item or block, made here because the model's
// providers cannot make one. Streaming too: the client gets keepalives while the record is written.

import { prefixedId } from "../base/ids.ts";
import type { ChatEvent } from "../chat/event.ts";
import { fold } from "../chat/fold.ts";
import { asApiError } from "../http/errors.ts";
import { sseResponse } from "../http/sse-response.ts";
import { type AdmittedRequest, dressOf } from "./chat-exchange.ts";
import type { GatewayDeps } from "./deps.ts";

/** Answers with a record. */
export async function answerRecord(deps: GatewayDeps, request: Request, job: AdmittedRequest): Promise<Response> {
  const events = recordEvents(deps, job);
  if (!job.chat.stream) {
    const body = job.format.encode(fold(await events), dressOf(job, undefined));
    await keep(deps, job, body);
    return Response.json(body);
  }
  const { exchange, format } = job;
  // It is examined when the client reads.
  events.catch(() => undefined);
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
          // The headers go out with the first bytes.
          state = "writing";
          return format.keepalive;
        }
        if (state === "over") return undefined;
        const writer = format.writer(dressOf(job, undefined));
        try {
          const text = (await events).map((event) => writer.push(event)).join("") + writer.end();
          if (writer.answer !== undefined) await keep(deps, job, writer.answer);
          settle();
          return text;
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

async function recordEvents(deps: GatewayDeps, job: AdmittedRequest): Promise<ChatEvent[]> {
  const { conversations } = deps;
  const { entries, name } = job.format;
  if (conversations === undefined || entries === undefined) throw new Error("Compaction is not there.");
  const { text, sealed, usage } = await conversations.record(job);
  const value = entries.record({ id: prefixedId("cmp_"), text, sealed });
  return [
    { type: "start" },
    { type: "opaque", choice: 0, origin: name, value },
    { type: "finish", choice: 0, reason: "compaction", rawReason: "compaction", usage },
  ];
}

async function keep(deps: GatewayDeps, job: AdmittedRequest, answer: Readonly<Record<string, unknown>>): Promise<void> {
  try {
    await job.keep?.(answer);
  } catch (error) {
    deps.keepFailed?.(error, job.exchange.requestId);
  }
}
