// The token counts of the protocols whose clients ask for them: forwarded to the model's first provider if it supports counting, otherwise counted by the
// gateway. Costs nothing and does not count against the rate limit; what an account may have counted has its own.

import type { BodyText } from "../../../base/long-json.ts";
import type { ChatRequest } from "../../../chat/request.ts";
import { readJsonText } from "../../../http/body.ts";
import { exchangeOf } from "../../../http/exchange.ts";
import { fetchAnswer } from "../../../upstream/ask.ts";
import { type Dialect, outlineOf, requestOf, type UpstreamRequest } from "../../../upstream/dialect.ts";
import { dialectFor } from "../../../upstream/dialect-choice.ts";
import type { Provider } from "../../../upstream/provider.ts";
import type { WireFormat } from "../../../wire/format.ts";
import { decodeCountTokens } from "../../../wire/messages/decode.ts";
import { messagesFormat } from "../../../wire/messages/format.ts";
import { withoutTags } from "../../admission/tags.ts";
import { orderRoutes } from "../../calls/order.ts";
import type { GatewayDeps } from "../../centre/deps.ts";
import { HTTP_CLIENT } from "../../centre/request-source.ts";
import { type ChatTurn, changed, reread, type Stage, type Target } from "../../centre/stage.ts";
import { decodeOptions, turnOf, withUsualNames } from "../../centre/turn.ts";
import { adaptedTo, prepared } from "../../centre/walk.ts";
import { clientError } from "../../rules/policy.ts";
import { refuseUntranslatable } from "../../rules/untranslatable.ts";
import type { ChatCompaction } from "../../stages/compaction/conversations.ts";
import { compactsItself } from "../../stages/compaction/items.ts";
import { refusesReasoning } from "../../stages/reasoning/refused-reasoning.ts";
import { promptTokens } from "../../usage/prompt-tokens.ts";
import { refusedCount } from "./counting.ts";
import type { CountingAllowance } from "./counting-allowance.ts";

type CountBuilder = NonNullable<Dialect["tokenCount"]>;

/** The time limit for the provider's count; a slower one is not worth the wait. */
const TIMEOUT_MS = 15_000;

/** A protocol whose clients ask for counts. */
export interface CountedFormat {
  /** Reads the requests. */
  readonly format: WireFormat;
  told(tokens: number): Record<string, unknown>;
}

/** Messages without an output limit. */
export const COUNTED_MESSAGES: CountedFormat = {
  format: { ...messagesFormat, decode: decodeCountTokens },
  told: (tokens) => ({ input_tokens: tokens }),
};

type CountDeps = Pick<
  GatewayDeps,
  "admit" | "bodyLimits" | "catalog" | "isDecisionModel" | "provider" | "scrub" | "clock"
> & {
  allowance: CountingAllowance;
  /** The stages that complete the content of a request, and adapt it to the provider that counts. */
  countedStages: readonly Stage[];
  compaction: Pick<ChatCompaction, "cleared">;
};

/** Creates the handler. */
export function createTokenCount(
  deps: CountDeps,
  counted: () => CountedFormat,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const exchange = exchangeOf(request);
    const caller = await deps.admit(request, exchange, { free: true });
    const ticket = deps.allowance.enter(caller.accountId, request);
    const { format, told } = counted();
    const read = withUsualNames(await readJsonText(request, deps.bodyLimits()), format);
    const { text, body } = withoutTags(read, exchange);
    ticket.read(text.length);
    const options = decodeOptions(request);
    const asked = {
      source: HTTP_CLIENT,
      request,
      exchange,
      caller,
      format,
      text,
      body,
      routing: undefined,
      reservation: undefined,
    };
    const turn = turnOf(deps, asked, format.decode(body, options), options);
    exchange.headers["x-sallyport-model"] = encodeURI(turn.model.id);
    const ready = await prepared(deps.countedStages, turn);
    const [route] = orderRoutes(ready.turn.routes, { random: () => 0 });
    const named = route === undefined ? undefined : deps.provider(route.provider);
    const provider = route && named && dialectFor(named, route, ready.turn.chat, format.dialect);
    const asCounted = await countable(deps, ready.turn, { provider, told });
    const build = provider?.dialect.name === format.dialect ? provider?.dialect.tokenCount : undefined;
    if (route === undefined || provider === undefined || build === undefined) {
      if (provider !== undefined) refuseUncountable(asCounted.turn.chat, format, provider);
      return Response.json(asCounted.told(await promptTokens(asCounted.turn.chat)));
    }
    const target = { provider, route };
    const sent = await adaptedTo({ ...ready, turn: asCounted.turn }, target, request.signal);
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const { text: said } = await fetchAnswer(provider, countRequest(build, sent, target), {
        clock: deps.clock,
        signal,
      });
      return answerOf(said, asCounted);
    } catch (error) {
      // If only the reasoning is refused, the error is not reported, since the request itself would be repeated without its
      // reasoning.
      if (refusedCount(error) && !refusesReasoning(error)) throw clientError(error, deps.scrub, format.dialect);
      request.signal.throwIfAborted();
      // Not every server that speaks the protocol can count tokens; an estimate is better than none.
      exchange.log["count_estimated"] = true;
      return Response.json(asCounted.told(await promptTokens(asCounted.turn.chat)));
    }
  };
}

/** The request for a provider's count. */
function countRequest(build: CountBuilder, turn: ChatTurn, { provider, route }: Target): UpstreamRequest<BodyText> {
  const { chat, model, clientHeaders } = turn;
  const { text, body } = turn.relayed ?? turn;
  const members: Record<string, unknown> = { ...turn.members };
  if (provider.quirks.compaction === false) {
    // When counting, providers that support requests for summaries ignore them, so these are left out.
    for (const name of ["compaction", "context_management"]) if (name in body) members[name] = undefined;
  }
  // As in a message, the wish for the cost is not the provider's matter.
  if (chat.includeCost === true && provider.quirks.usage_include !== true) members["usage"] = undefined;
  const ctx = {
    ...{ model: route.model, stream: chat.stream, quirks: provider.quirks, clientHeaders, body },
    supportsReasoning: model.supportsReasoning,
    maxOutputTokens: model.maxOutputTokens,
    reasoningRemoved: turn.reasoningRemoved === true,
  };
  return requestOf(text, build(outlineOf(text), chat, ctx, members));
}

/**
 * Refuses content that cannot be sent to the provider, which therefore cannot count it either. A request for a summary is ignored
 * when counting.
 */
function refuseUncountable(chat: ChatRequest, format: WireFormat, provider: Provider): void {
  const { compaction: _compaction, ...extra } = chat.extra;
  const { maxTokens: _limit, ...asked } = chat;
  refuseUntranslatable({ ...asked, extra }, format, provider);
}

/** The request that is counted. */
interface Countable {
  turn: ChatTurn;
  /** Tokens removed by clearing; undefined if the client requested none, or if the provider clears by itself. */
  gone: number | undefined;
  /** Builds the response for a number of tokens. */
  told(tokens: number): Record<string, unknown>;
}

/** The turn with its context edits applied, if the provider does not support them. */
async function countable(
  { compaction }: CountDeps,
  turn: ChatTurn,
  { provider, told }: { provider: Provider | undefined } & Pick<CountedFormat, "told">,
): Promise<Countable> {
  const { content, caller, model, format } = turn;
  const clearsItself = provider !== undefined && compactsItself(provider, format);
  const cleared = clearsItself
    ? undefined
    : await compaction.cleared(content, format, { accountId: caller.accountId, model: model.id });
  if (cleared === undefined) return { turn, gone: undefined, told };
  const { list: messages, gone } = cleared;
  const { context_management: _edits, ...rest } = content;
  const whole = { ...rest, messages };
  return {
    turn: changed(turn, {
      why: "compaction/cleared",
      content: whole,
      chat: reread(turn, whole),
      members: { ...turn.members, ...(messages === turn.body["messages"] ? {} : { messages }) },
    }),
    gone,
    told: (tokens) => ({
      input_tokens: tokens,
      context_management: { original_input_tokens: tokens + gone },
    }),
  };
}

/** The provider's count, together with the tokens that clearing removed before. */
function answerOf(text: string, { gone, told }: Countable): Response {
  if (gone === undefined) return new Response(text, { headers: { "content-type": "application/json" } });
  const { input_tokens: tokens } = JSON.parse(text) as { input_tokens: number };
  return Response.json(told(tokens));
}
