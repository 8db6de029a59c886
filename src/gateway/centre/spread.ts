// Requests of which one body becomes several. Of several models, the first that answers does. Of several prompts (legacy
// completions), each gets its own answer, and they are combined as the protocol requires, with choice indices that continue from
// prompt to prompt; streams run one after the other. Together they are one request with one reservation.

import { ApiError, type ErrorCode } from "../../base/errors.ts";
import { FrameCutter, parseFrames } from "../../base/sse.ts";
import type { CatalogModel } from "../../catalog/models.ts";
import { asApiError } from "../../http/errors.ts";
import type { SseSource } from "../../http/sse-response.ts";
import type { Reservation } from "../../shared-state/reservations.ts";
import type { TokenWish } from "../../shared-state/token-windows.ts";
import type { RoutingOptions } from "../../wire/format.ts";
import { defaultsFor } from "../rules/policy.ts";
import { worstCaseMicros } from "../usage/worst-case.ts";
import type { GatewayDeps } from "./deps.ts";
import type { Answer, TurnExchange } from "./stage.ts";
import { type AskedRequest, decodeOptions, modelFor } from "./turn.ts";

/** A parsed JSON object. */
type Json = Record<string, unknown>;

/** Errors after which another model may succeed. All others are caused by the request itself, or occur before a call. */
const FALLS_BACK: ReadonlySet<ErrorCode> = new Set([
  "model_not_found",
  "context_length_exceeded",
  "provider_unavailable",
  "provider_auth_failed",
  "provider_model_missing",
  "provider_rate_limited",
  "provider_answer_invalid",
  "provider_circuit_open",
  "provider_timeout",
  "tool_arguments_invalid",
]);

/** Answers a request that may name several models or prompts. */
export async function answerAll(
  deps: Pick<GatewayDeps, "budgets" | "catalog" | "isDecisionModel">,
  asked: AskedRequest,
  answerOne: (asked: AskedRequest) => Promise<Answer>,
): Promise<Answer> {
  const { request, exchange, caller, format, body, routing } = asked;
  const prompts = format.prompts?.(body);
  let reservation: Reservation | undefined;
  const answer = async (body: Json, exchange: TurnExchange) => {
    // One of several prompts may continue after another one has failed.
    const own = reservation?.share();
    try {
      return await answerOne({ ...asked, body, exchange, reservation });
    } finally {
      own?.release();
    }
  };
  const worstOf = (body: Json) => {
    const options = decodeOptions(request);
    const chat = format.decode(body, options);
    const costs = modelsFor(deps, chat.model, caller).map((model) =>
      worstCaseMicros(chat, model, { ...defaultsFor(chat, model, format), betas: options.betas }),
    );
    return Math.max(...costs);
  };
  const wishOf = async (body: Json) => {
    const { tokenWish } = await import("../usage/token-wish.ts");
    const chat = format.decode(body, decodeOptions(request));
    const { model } = modelFor(deps, chat.model, caller);
    return tokenWish(chat, model, defaultsFor(chat, model, format));
  };
  if (routing !== undefined) {
    const bodies = bodiesByModel(body, routing);
    if (caller.budgets !== undefined) {
      reservation = await deps.budgets.reserve(caller.budgets, exchange, dearest(bodies, worstOf));
    }
    return firstThatAnswers(bodies, (one) => answer(one, exchange));
  }
  if (prompts === undefined) return answer(body, exchange);
  return answerPrompts(answer, prompts, {
    body,
    exchange,
    async reserve(bodies) {
      if (exchange.tokens !== undefined) await exchange.tokens.reserve(await together(bodies.map(wishOf)));
      if (caller.budgets === undefined) return;
      const micros = bodies.reduce((sum, body) => sum + worstOf(body), 0);
      reservation = await deps.budgets.reserve(caller.budgets, exchange, micros);
    },
  });
}

/** A model, and the larger one that may answer in its place. */
function modelsFor(
  deps: Parameters<typeof modelFor>[0],
  id: string,
  caller: AskedRequest["caller"],
): readonly CatalogModel[] {
  const { model } = modelFor(deps, id, caller);
  if (model.larger === undefined) return [model];
  try {
    return [model, modelFor(deps, model.larger, caller).model];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The caller may not use it.
    return [model];
  }
}

/** The body for each of the request's models, in order; there is at least one. */
function bodiesByModel(body: Json, { models }: RoutingOptions): readonly Json[] {
  const { models: _models, provider: _provider, ...rest } = body;
  const first = typeof body["model"] === "string" ? [body["model"]] : [];
  const ids = [...new Set([...first, ...models])];
  return ids.length === 0 ? [rest] : ids.map((model) => ({ ...rest, model }));
}

/** The tokens of all of them. */
async function together(wishes: readonly Promise<TokenWish>[]): Promise<TokenWish> {
  let [least, most] = [0, 0];
  for (const wish of await Promise.all(wishes)) [least, most] = [least + wish.least, most + wish.most];
  return { least, most };
}

/** The highest cost of these bodies. A model that cannot be used counts as free, as it is refused when it is tried. */
function dearest(bodies: readonly Json[], worstOf: (body: Json) => number): number {
  let most = 0;
  for (const body of bodies) {
    try {
      most = Math.max(most, worstOf(body));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return most;
}

/** Tries the bodies one after the other until one is answered. Throws the last error. */
async function firstThatAnswers<T>(bodies: readonly Json[], ask: (body: Json) => Promise<T>): Promise<T> {
  for (const [at, body] of bodies.entries()) {
    try {
      return await ask(body);
    } catch (error) {
      const isLast = at === bodies.length - 1;
      if (isLast || !(error instanceof ApiError) || !FALLS_BACK.has(error.apiCode)) throw error;
    }
  }
  throw new Error("There is at least one body.");
}

/** Answers one prompt, completely or as a stream, as requested. */
type AnswerPrompt = (body: Json, exchange: TurnExchange) => Promise<Answer>;

/** Maximum number of choices of one request, over all prompts. */
const CHOICES_MAX = 128;
/** Number of complete answers that are requested concurrently. */
const AT_ONCE = 4;

/** Answers several prompts. `reserve` is called once before the first one, as together they are one request. */
async function answerPrompts(
  answer: AnswerPrompt,
  prompts: readonly unknown[],
  given: { body: Json; exchange: TurnExchange; reserve(bodies: readonly Json[]): Promise<void> },
): Promise<Answer> {
  const { body, exchange } = given;
  const each = typeof body["n"] === "number" ? body["n"] : 1;
  if (prompts.length * each > CHOICES_MAX) {
    throw new ApiError("invalid_request", `A request may ask for at most ${CHOICES_MAX} texts.`, { param: "prompt" });
  }
  const bodyOf = (prompt: unknown): Json => ({ ...body, prompt });
  await given.reserve(prompts.map(bodyOf));
  const ask = (at: number) => answer(bodyOf(prompts[at]), partOf(exchange));
  if (body["stream"] === true) return streams(ask, { count: prompts.length, each, exchange });
  const answers: Json[] = [];
  for (let from = 0; from < prompts.length; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, prompts.length - from) }, (_, i) => ask(from + i));
    for (const one of await Promise.all(some)) if ("text" in one) answers.push(JSON.parse(one.text) as Json);
  }
  const choices = answers.flatMap((one, at) => moved(one["choices"], at * each));
  const usage = answers.map((one) => one["usage"]).reduce(added, undefined);
  return { text: JSON.stringify({ ...answers[0], choices, usage }) };
}

/**
 * The part of an exchange that belongs to one prompt. Its effects are added to the whole exchange, which alone writes the log
 * line.
 */
function partOf(whole: TurnExchange): TurnExchange {
  return {
    ...whole,
    get recorded() {
      return whole.recorded;
    },
    set recorded(recorded) {
      whole.recorded = recorded;
    },
    streaming: false,
    isPart: true,
    finish() {},
    // Methods of a class are not copied with its members.
    atEnd: (work) => whole.atEnd(work),
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
  ask: (at: number) => Promise<Answer>,
  given: { count: number; each: number; exchange: TurnExchange },
): Promise<Answer> {
  const { count, each, exchange } = given;
  // A failure of the first prompt still leads to an HTTP status.
  let source = sourceOf(await ask(0));
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
        over = true;
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

  return {
    keepalive: ": ping\n\n",
    source: {
      async next() {
        if (over) return undefined;
        try {
          const text = await source.next();
          const rest = frames(text === undefined ? cutter.end() : cutter.push(encoder.encode(text)));
          if (over) {
            // An answer that failed is read to its end, at which its cost is recorded.
            if (text !== undefined) await drained(source);
            end();
          }
          if (over || text !== undefined) return rest;
          at++;
          if (at === count) return rest + closing();
          cutter = new FrameCutter();
          source = sourceOf(await ask(at));
          // The client left while this prompt's answer began.
          if (over) source.cancel();
          return rest;
        } catch (error) {
          end();
          return `data: ${JSON.stringify({ error: { ...asApiError(error).body(), request_id: exchange.requestId } })}\n\n`;
        }
      },
      cancel() {
        if (over) return;
        // This aborts the upstream of the current prompt.
        source.cancel();
        end();
      },
    },
  };
}

const encoder = new TextEncoder();

function sourceOf(answer: Answer): SseSource {
  if (!("source" in answer)) throw new Error("A streamed answer has a source.");
  return answer.source;
}

async function drained(source: SseSource): Promise<void> {
  while ((await source.next()) !== undefined);
}
