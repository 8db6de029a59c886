// The pipeline of one chat request: admit, read, resolve, check, then answer. What differs between protocols is in their
// dialects and formats.

import { requireModel } from "../catalog/resolve.ts";
import type { TierId } from "../catalog/tiers.ts";
import type { ChatRequest } from "../chat/request.ts";
import { readJson } from "../http/body.ts";
import { type Exchange, exchangeOf } from "../http/exchange.ts";
import type { Caller } from "../http/guards.ts";
import type { Hold } from "../http/reservations.ts";
import { traceHeaders } from "../telemetry/span.ts";
import type { DecodeOptions, WireFormat } from "../wire/format.ts";
import { headerText } from "./accounting.ts";
import { answerRecord } from "./answer-record.ts";
import { answerStreaming } from "./answer-stream.ts";
import { answerWhole } from "./answer-whole.ts";
import { answerId, decodeOptions, forwardedHeaders, type Job } from "./chat-exchange.ts";
import type { GatewayDeps } from "./deps.ts";
import { checkAgainstModel, defaultsFor } from "./policy.ts";
import { answerPrompts } from "./prompts.ts";
import { RefusedReasoning } from "./refused-reasoning.ts";
import { routesOfThread, threadOf } from "./upstream-threads.ts";
import { worstCaseMicros } from "./worst-case.ts";

const NO_MEMBERS = {};

/** A request that was admitted and read. */
interface Read {
  request: Request;
  exchange: Exchange;
  caller: Caller<TierId>;
  format: WireFormat;
  text: string;
  body: Record<string, unknown>;
  chat: ChatRequest;
  options: DecodeOptions;
  /** What the whole request holds of its caller's budgets, where this is one of several prompts. */
  hold: Hold | undefined;
  nowSeconds(): number;
}

export type Gateway = ReturnType<typeof createGateway>;

/** Builds the pipeline. */
export function createGateway(deps: GatewayDeps) {
  const nowSeconds = () => Math.floor(deps.clock.now() / 1000);

  /** Answers a chat request in the given format. */
  async function handle(request: Request, format: WireFormat): Promise<Response> {
    const exchange = exchangeOf(request);
    const admitted = deps.admit(request, exchange);
    // Mostly there at once: no turn of the event loop for it.
    const caller = admitted instanceof Promise ? await admitted : admitted;
    const { text, body } = await readJson(request, deps.bodyLimits());
    const prompts = format.prompts?.(body);
    let hold: Hold | undefined;
    const answer = async (body: Record<string, unknown>, exchange: Exchange) => {
      // One of several prompts may outlast the others' failure.
      const own = hold?.share();
      try {
        return await answerOne(deps, { request, exchange, caller, format, text, body, hold, nowSeconds });
      } finally {
        own?.release();
      }
    };
    if (prompts === undefined) return answer(body, exchange);
    return answerPrompts(answer, prompts, {
      body,
      exchange,
      signal: request.signal,
      async reserve(bodies) {
        if (caller.budgets === undefined) return;
        const worst = bodies.map((body) => {
          const chat = format.decode(body, decodeOptions(request));
          const { model } = modelFor(deps, chat, caller);
          return worstCaseMicros(chat, model, defaultsFor(chat, model, format));
        });
        hold = await deps.budgets.reserve(
          caller.budgets,
          exchange,
          worst.reduce((sum, micros) => sum + micros, 0),
        );
      },
    });
  }

  return { handle };
}

function modelFor(deps: GatewayDeps, chat: ChatRequest, caller: Caller<TierId>) {
  return requireModel(deps.catalog(), chat.model, {
    tier: caller.account.tier,
    isDecisionModel: deps.isDecisionModel,
  });
}

async function answerOne(deps: GatewayDeps, read: Omit<Read, "chat" | "options">): Promise<Response> {
  const { request, format, body } = read;
  const options = decodeOptions(request);
  const chat = format.decode(body, options);
  const job = await makeJob(deps, { ...read, chat, options });
  if (job.asksRecord !== undefined) return answerRecord(deps, request, job);
  return chat.stream ? answerStreaming(deps, request, job) : answerWhole(deps, request, job);
}

async function makeJob(deps: GatewayDeps, read: Read): Promise<Job> {
  const { request, exchange, caller, format, text, body, options, nowSeconds } = read;
  const { model, routes } = modelFor(deps, read.chat, caller);
  exchange.log["model"] = model.id;
  checkAgainstModel(read.chat, model, limitParam(body));
  const prepared = await deps.prepare?.({ exchange, caller, format, chat: read.chat, body, options, model, routes });
  const chat = prepared?.chat ?? read.chat;
  // What was stored earlier may hold what this model cannot read.
  if (chat !== read.chat) checkAgainstModel(chat, model, limitParam(body));
  exchange.headers["x-sallyport-model"] = headerText(model.id);
  const held = prepared?.held;
  const thread = held === undefined ? threadOf(format, body) : undefined;
  const conversation = deps.conversations?.of(chat, format);
  const asked = deps.conversations?.asked(body, format, prepared?.routes ?? routes);
  const open = asked?.routes ?? prepared?.routes ?? routes;
  const { accountId, budgets } = caller;
  const stay = deps.affinity.stayOf({ accountId, chat, body, model, routes: open });
  const defaults = defaultsFor(chat, model, format);
  // The last thing before a provider is called: what is refused before costs nothing.
  const hold =
    read.hold ?? (budgets && (await deps.budgets.reserve(budgets, exchange, worstCaseMicros(chat, model, defaults))));
  return {
    exchange,
    caller,
    format,
    text,
    body,
    chat,
    model,
    routes: thread === undefined ? open : routesOfThread(thread, open, { ...deps, accountId }),
    ...(thread === undefined ? {} : { thread }),
    ...(conversation === undefined ? {} : { conversation }),
    ...(asked?.asksRecord === undefined ? {} : { asksRecord: asked.asksRecord }),
    ...(stay === undefined ? {} : { stay }),
    ...(held === undefined ? {} : { held }),
    options,
    defaults,
    hold,
    refusedReasoning: new RefusedReasoning(),
    clientHeaders: forwardedHeaders(request),
    trace: {
      span: exchange.span,
      headers: exchange.span === undefined ? traceHeaders(request.headers) : NO_MEMBERS,
      stream: chat.stream,
      failedRoutes: exchange.failedRoutes,
      maxTokens: chat.maxTokens,
      temperature: chat.temperature,
      topP: chat.topP,
    },
    id: answerId(format),
    createdSeconds: nowSeconds(),
    nowSeconds,
    members: prepared === undefined ? NO_MEMBERS : prepared.members,
    ...(prepared?.dropped === undefined ? {} : { dropped: prepared.dropped }),
    ...(prepared?.keep === undefined ? {} : { keep: prepared.keep }),
  };
}

function limitParam(body: Readonly<Record<string, unknown>>): string {
  for (const name of ["max_completion_tokens", "max_output_tokens"]) if (body[name] != null) return name;
  return "max_tokens";
}
