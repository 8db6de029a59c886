// Sends a conversation and reads its answer as it arrives, with everything that the raw view shows.

import { Refused, refusalOf, send } from "../api.ts";
import { type AnswerFailure, type ChatReply, NO_REPLY, type WireExchange } from "./conversation.ts";
import { type ChatFormat, StreamFailure } from "./formats.ts";

/** The part of an answer that has arrived. */
export interface AnswerProgress {
  readonly reply: ChatReply;
  readonly exchange: WireExchange;
  readonly failure?: AnswerFailure;
  readonly stopped?: true;
}

/** The limit of what is kept for the raw view; a longer answer is cut off there. */
const RECEIVED_CHARS_MAX = 500_000;

/** Sends the request and reports the answer each time a part arrives. Never throws: errors are reported too. */
export async function askPlayground(
  { format, body, signal }: { format: ChatFormat; body: object; signal: AbortSignal },
  tell: (progress: AnswerProgress) => void,
): Promise<void> {
  const startedMs = performance.now();
  const since = () => performance.now() - startedMs;
  let progress: AnswerProgress = {
    reply: NO_REPLY,
    exchange: { path: format.path, sent: JSON.stringify(body, null, 2) },
  };
  const update = (more: Partial<AnswerProgress>) => {
    progress = { ...progress, ...more };
    tell(progress);
  };
  const exchange = (more: Partial<WireExchange>) => ({ exchange: { ...progress.exchange, ...more } });
  try {
    const response = await send("POST", format.slug === "chat" ? "/playground" : `/playground/${format.slug}`, {
      body,
      signal,
    });
    update(exchange({ status: response.status, requestId: response.headers.get("x-request-id") }));
    if (!response.ok || response.body === null) {
      const received = await response.clone().text();
      update(exchange({ received }));
      throw await refusalOf(response);
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let received = "";
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      received += read.value;
      const lines = (rest + read.value).split("\n");
      rest = lines.pop() ?? "";
      const reply = lines.reduce((before, line) => after(format, before, line), progress.reply);
      const firstMs = progress.exchange.firstMs ?? (hasBegun(reply) ? since() : undefined);
      const shown = received.slice(0, RECEIVED_CHARS_MAX);
      update({ reply, ...exchange({ received: shown, ...(firstMs === undefined ? {} : { firstMs }) }) });
    }
    update(exchange({ totalMs: since() }));
  } catch (error) {
    const ended = exchange({ totalMs: since() });
    if (signal.aborted) update({ stopped: true, ...ended });
    else update({ failure: failureOf(error), ...ended });
  }
}

function after(format: ChatFormat, reply: ChatReply, line: string): ChatReply {
  const data = line.startsWith("data:") ? line.slice("data:".length).trim() : "";
  if (data === "" || data === "[DONE]") return reply;
  return format.read(reply, JSON.parse(data) as Record<string, unknown>);
}

function hasBegun({ text, reasoning, calls }: ChatReply): boolean {
  return text !== "" || reasoning !== "" || calls.length > 0;
}

function failureOf(error: unknown): AnswerFailure {
  const code = error instanceof Refused || error instanceof StreamFailure ? error.code : "broken_answer";
  return { message: error instanceof Error ? error.message : String(error), code };
}
