// Answers a legacy completions request with several prompts. Each prompt gets its own answer, and they are combined as the
// protocol requires, with choice indices that continue from prompt to prompt. Streams run one after the other.

import { ApiError } from "../../base/errors.ts";
import { FrameCutter, parseFrames } from "../../base/sse.ts";
import { asApiError } from "../../http/errors.ts";
import type { Exchange } from "../../http/exchange.ts";
import { sseResponse } from "../../http/sse-response.ts";

/** A parsed JSON object. */
type Json = Record<string, unknown>;

/** Answers one prompt, completely or as a stream, as requested. */
export type AnswerPrompt = (body: Json, exchange: Exchange) => Promise<Response>;

/** Maximum number of choices of one request, over all prompts. */
const CHOICES_MAX = 128;
/** Number of complete answers that are requested concurrently. */
const AT_ONCE = 4;

/** Answers several prompts. `reserve` is called once before the first one, as together they are one request. */
export async function answerPrompts(
  answer: AnswerPrompt,
  prompts: readonly unknown[],
  given: { body: Json; exchange: Exchange; signal: AbortSignal; reserve(bodies: readonly Json[]): Promise<void> },
): Promise<Response> {
  const { body, exchange, signal } = given;
  const each = typeof body["n"] === "number" ? body["n"] : 1;
  if (prompts.length * each > CHOICES_MAX) {
    throw new ApiError("invalid_request", `A request may ask for at most ${CHOICES_MAX} texts.`, { param: "prompt" });
  }
  const bodyOf = (prompt: unknown): Json => ({ ...body, prompt });
  await given.reserve(prompts.map(bodyOf));
  const ask = (at: number) => answer(bodyOf(prompts[at]), partOf(exchange));
  if (body["stream"] === true) return streams(ask, { count: prompts.length, each, exchange, signal });
  const answers: Json[] = [];
  for (let from = 0; from < prompts.length; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, prompts.length - from) }, (_, i) => ask(from + i));
    for (const response of await Promise.all(some)) answers.push((await response.json()) as Json);
  }
  const choices = answers.flatMap((one, at) => moved(one["choices"], at * each));
  const usage = answers.map((one) => one["usage"]).reduce(added, undefined);
  return Response.json({ ...answers[0], choices, usage });
}

/**
 * The part of an exchange that belongs to one prompt. Its effects are added to the whole exchange, which alone writes the log
 * line.
 */
function partOf(whole: Exchange): Exchange {
  const { requestId, startedMs, method, path, headers, log, span, holder } = whole;
  return {
    requestId,
    span,
    startedMs,
    method,
    path,
    headers,
    log,
    holder,
    holdBody: (bytes) => whole.holdBody(bytes),
    atEnd: (work) => whole.atEnd(work),
    get route() {
      return whole.route;
    },
    get address() {
      return whole.address;
    },
    get secure() {
      return whole.secure;
    },
    get isUnnamedProxy() {
      return whole.isUnnamedProxy;
    },
    get recorded() {
      return whole.recorded;
    },
    set recorded(recorded) {
      whole.recorded = recorded;
    },
    failedRoutes: whole.failedRoutes,
    ...(whole.wire === undefined ? {} : { wire: whole.wire }),
    streaming: false,
    finish() {},
  };
}

function moved(choices: unknown, by: number): Json[] {
  return (Array.isArray(choices) ? (choices as Json[]) : []).map((choice) => ({
    ...choice,
    index: Number(choice["index"]) + by,
  }));
}

/** Adds all numbers of two values, including nested ones. */
function added(sum: unknown, next: unknown): unknown {
  if (typeof sum === "number" && typeof next === "number") return sum + next;
  if (typeof sum !== "object" || sum === null) return next;
  if (typeof next !== "object" || next === null) return sum;
  const out: Json = { ...sum };
  for (const [key, value] of Object.entries(next)) out[key] = added(out[key], value);
  return out;
}

async function streams(
  ask: (at: number) => Promise<Response>,
  given: { count: number; each: number; exchange: Exchange; signal: AbortSignal },
): Promise<Response> {
  const { count, each, exchange, signal } = given;
  // A failure of the first prompt still leads to an HTTP status.
  let reader = readerOf(await ask(0));
  let at = 0;
  let cutter = new FrameCutter();
  let usage: unknown;
  let head: Json = {};
  let over = false;
  exchange.streaming = true;

  const end = () => {
    over = true;
    exchange.finish(200);
  };
  const frames = (text: string): string => {
    let out = "";
    for (const { data } of parseFrames(text)) {
      if (data === "[DONE]") continue;
      const chunk = JSON.parse(data) as Json;
      if (chunk["error"] !== undefined) {
        end();
        return `${out}data: ${data}\n\n`;
      }
      head = chunk;
      if (chunk["usage"] != null) usage = added(usage, chunk["usage"]);
      const choices = moved(chunk["choices"], at * each);
      if (choices.length > 0) out += `data: ${JSON.stringify({ ...chunk, choices })}\n\n`;
    }
    return out;
  };
  const closing = (): string => {
    end();
    const total = usage === undefined ? "" : `data: ${JSON.stringify({ ...head, choices: [], usage })}\n\n`;
    return `${total}data: [DONE]\n\n`;
  };

  return sseResponse(
    {
      async next() {
        if (over) return undefined;
        try {
          const { done, value } = await reader.read();
          if (!done) return frames(cutter.push(encoder.encode(value)));
          const rest = frames(cutter.end());
          if (over) return rest;
          at++;
          if (at === count) return rest + closing();
          cutter = new FrameCutter();
          reader = readerOf(await ask(at));
          return rest;
        } catch (error) {
          end();
          return `data: ${JSON.stringify({ error: { ...asApiError(error).body(), request_id: exchange.requestId } })}\n\n`;
        }
      },
      cancel() {
        // This aborts the upstream of the current prompt. The stream may have failed already.
        reader.cancel().catch(() => undefined);
        if (!over) end();
      },
    },
    { keepalive: ": ping\n\n", signal },
  );
}

const encoder = new TextEncoder();

/** A reader of a streamed answer that the gateway built, whose chunks are text. */
function readerOf(response: Response): ReadableStreamDefaultReader<string> {
  if (response.body === null) throw new Error("A streamed answer has a body.");
  return (response.body as unknown as ReadableStream<string>).getReader();
}
