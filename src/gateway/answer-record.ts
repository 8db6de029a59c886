// The answer to a request for a record of its conversation: one compaction item or block, made here because the model's
// providers cannot make one. Streaming too: the client gets keepalives while the record is written.

import { prefixedId } from "../base/ids.ts";
import type { ChatEvent, Usage } from "../chat/event.ts";
import { fold } from "../chat/fold.ts";
import { asApiError } from "../http/errors.ts";
import { sseResponse } from "../http/sse-response.ts";
import { type AdmittedRequest, dressOf } from "./chat-exchange.ts";
import type { GatewayDeps } from "./deps.ts";

/** Answers with a record. */
export async function answerRecord(deps: GatewayDeps, request: Request, job: AdmittedRequest): Promise<Response> {
  const events = recordEvents(deps, job);
  if (!job.chat.stream) {
    const { said, usage } = await events;
    const body = job.format.encode(fold(said), dressFor(job, usage));
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
        let writer = format.writer(dressOf(job, undefined));
        try {
          const { said, usage } = await events;
          writer = format.writer(dressFor(job, usage));
          const text = said.map((event) => writer.push(event)).join("") + writer.end();
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

/** A record that stands before an answer has its cost told beside the answer's own, which is nothing yet. */
function dressFor(job: AdmittedRequest, usage: Usage) {
  const dress = dressOf(job, undefined);
  return dress.edited === undefined ? dress : { ...dress, edited: { ...dress.edited, usage } };
}

async function recordEvents(deps: GatewayDeps, job: AdmittedRequest): Promise<{ said: ChatEvent[]; usage: Usage }> {
  const { conversations } = deps;
  const { entries, name } = job.format;
  if (conversations === undefined || entries === undefined) throw new Error("Compaction is not there.");
  const { text, sealed, usage } = await conversations.record(job);
  const value = entries.record({ id: prefixedId("cmp_"), text, sealed });
  const own = job.conversation?.edited === undefined ? usage : { inputTokens: 0, outputTokens: 0 };
  const said: ChatEvent[] = [
    { type: "start" },
    { type: "opaque", choice: 0, origin: name, value },
    { type: "finish", choice: 0, reason: "compaction", rawReason: "compaction", usage: own },
  ];
  return { said, usage };
}

async function keep(deps: GatewayDeps, job: AdmittedRequest, answer: Readonly<Record<string, unknown>>): Promise<void> {
  try {
    await job.keep?.(answer);
  } catch (error) {
    deps.keepFailed?.(error, job.exchange.requestId);
  }
}
