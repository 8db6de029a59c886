// POST /v1/messages/count_tokens: forwarded to the model's first provider if it supports counting, otherwise counted by the
// gateway. Costs nothing and does not count against the rate limit; what an account may have counted has its own.

import type { ModelRoute } from "../../../catalog/models.ts";
import { requireModel } from "../../../catalog/resolve.ts";
import type { ChatRequest } from "../../../chat/request.ts";
import { readJsonBody } from "../../../http/body.ts";
import { exchangeOf } from "../../../http/exchange.ts";
import type { FileStore } from "../../../store/work/files.ts";
import { fetchAnswer } from "../../../upstream/ask.ts";
import type { Provider } from "../../../upstream/provider.ts";
import type { DecodeOptions } from "../../../wire/format.ts";
import { decodeCountTokens } from "../../../wire/messages/decode.ts";
import { messagesFormat } from "../../../wire/messages/format.ts";
import type { Caller } from "../../admission/caller.ts";
import { orderRoutes } from "../../calls/order.ts";
import type { GatewayDeps } from "../../centre/deps.ts";
import { decodeOptions, forwardedHeaders } from "../../centre/turn.ts";
import { clientError, refuseImages } from "../../rules/policy.ts";
import { refuseUntranslatable } from "../../rules/untranslatable.ts";
import type { ChatCompaction } from "../../stages/compaction/conversations.ts";
import { compactsItself } from "../../stages/compaction/items.ts";
import { withRecords } from "../../stages/compaction/open-records.ts";
import type { Sealer } from "../../stages/compaction/seal.ts";
import { withFiles } from "../../stages/files/uploaded.ts";
import { historyReader, openHistory } from "../../stages/reasoning/open-history.ts";
import type { ReasoningMemory } from "../../stages/reasoning/reasoning-memory.ts";
import { refusesReasoning } from "../../stages/reasoning/refused-reasoning.ts";
import { routesOfThread, threadOf, type UpstreamThreads } from "../../stages/threads/upstream-threads.ts";
import { promptTokens } from "../../usage/prompt-tokens.ts";
import { refusedCount } from "./counting.ts";
import type { CountingAllowance } from "./counting-allowance.ts";

/** The time limit for the provider's count; a slower one is not worth the wait. */
const TIMEOUT_MS = 15_000;

type CountDeps = Pick<
  GatewayDeps,
  "admit" | "bodyLimits" | "catalog" | "isDecisionModel" | "provider" | "scrub" | "clock"
> & {
  reasoning: ReasoningMemory;
  threads: UpstreamThreads;
  allowance: CountingAllowance;
  files: FileStore;
  sealer: Sealer;
  compaction: Pick<ChatCompaction, "cleared">;
};

/** Creates the handler. */
export function createTokenCount(deps: CountDeps): (request: Request) => Promise<Response> {
  return async (request) => {
    const exchange = exchangeOf(request);
    const caller = await deps.admit(request, exchange, { free: true });
    const ticket = deps.allowance.enter(caller.accountId, request);
    const { text, body } = await readJsonBody(request, deps.bodyLimits());
    ticket.read(text.length);
    const options = decodeOptions(request);
    const chat = decodeCountTokens(body, options);
    const { model, routes } = requireModel(deps.catalog(), chat.model, {
      tier: caller.account.tier,
      models: caller.models,
      isDecisionModel: deps.isDecisionModel,
    });
    exchange.log["model"] = model.id;
    refuseImages(body, model);
    exchange.headers["x-sallyport-model"] = encodeURI(model.id);
    const thread = threadOf(messagesFormat, body);
    const { accountId } = caller;
    const open = thread === undefined ? routes : routesOfThread(thread, routes, { ...deps, accountId });
    const [route] = orderRoutes(open, { random: () => 0 });
    const provider = route === undefined ? undefined : deps.provider(route.provider);
    const counted = await countable(deps, { caller, body, chat, routes: open, provider, model: model.id, options });
    const build = provider?.dialect.tokenCount;
    if (route === undefined || provider === undefined || build === undefined) {
      if (provider !== undefined) refuseUncountable(counted.chat, provider);
      return Response.json(counted.told(await promptTokens(counted.chat)));
    }
    const { members } = counted;
    if (provider.quirks.compaction === false) {
      // When counting, providers that support requests for summaries ignore them, so these are left out.
      for (const name of ["compaction", "context_management"]) if (name in body) members[name] = undefined;
    }
    const opened = openHistory(
      { text, body, members },
      messagesFormat,
      historyReader(provider, route.model, { ...deps, accountId, messages: counted.chat.messages }),
    );
    const built = build(
      opened.text,
      counted.chat,
      {
        model: route.model,
        stream: chat.stream,
        quirks: provider.quirks,
        supportsReasoning: model.supportsReasoning,
        maxOutputTokens: model.maxOutputTokens,
        clientHeaders: forwardedHeaders(request),
        body: opened.body,
        reasoningRemoved: opened.removed,
      },
      opened.members,
    );
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const { text: said } = await fetchAnswer(provider, built, { clock: deps.clock, signal });
      return answerOf(said, counted);
    } catch (error) {
      // If only the reasoning is refused, the error is not reported, since the request itself would be repeated without its
      // reasoning.
      if (refusedCount(error) && !refusesReasoning(error)) throw clientError(error, deps.scrub, messagesFormat.dialect);
      request.signal.throwIfAborted();
      // Not every server that speaks the protocol can count tokens; an estimate is better than none.
      exchange.log["count_estimated"] = true;
      return Response.json(counted.told(await promptTokens(counted.chat)));
    }
  };
}

/**
 * Refuses content that cannot be sent to the provider, which therefore cannot count it either. A request for a summary is ignored
 * when counting.
 */
function refuseUncountable(chat: ChatRequest, provider: Provider): void {
  const { compaction: _compaction, ...extra } = chat.extra;
  const { maxTokens: _limit, ...asked } = chat;
  refuseUntranslatable({ ...asked, extra }, messagesFormat, provider);
}

/** The request that is counted. */
interface Countable {
  chat: ChatRequest;
  /** The members of the body that were changed. */
  members: Record<string, unknown>;
  /** Tokens removed by clearing; undefined if the client requested none, or if the provider clears by itself. */
  gone: number | undefined;
  /** Builds the response for a number of tokens. */
  told(tokens: number): Record<string, unknown>;
}

/** The body with files and records resolved. If the provider does not support context edits, they are applied too. */
async function countable(
  deps: CountDeps,
  given: {
    caller: Caller;
    body: Readonly<Record<string, unknown>>;
    chat: ChatRequest;
    routes: readonly ModelRoute[];
    provider: Provider | undefined;
    model: string;
    options: DecodeOptions;
  },
): Promise<Countable> {
  const { caller, body, provider, model } = given;
  const filled = await withFiles(deps.files, caller.accountId, body);
  const { body: open } = withRecords(deps, { ...given, format: messagesFormat }, filled);
  const clearsItself = provider !== undefined && compactsItself(provider, messagesFormat);
  const cleared = clearsItself
    ? undefined
    : await deps.compaction.cleared(open, messagesFormat, { accountId: caller.accountId, model });
  const members: Record<string, unknown> = {};
  const messages = cleared?.list ?? open["messages"];
  if (messages !== body["messages"]) members["messages"] = messages;
  const { context_management: edits, ...rest } = open;
  const isChanged = members["messages"] !== undefined || cleared !== undefined;
  const left = cleared === undefined && edits !== undefined ? { context_management: edits } : {};
  const chat = isChanged ? decodeCountTokens({ ...rest, ...left, messages }, given.options) : given.chat;
  const gone = cleared?.gone;
  const told = (tokens: number) => ({
    input_tokens: tokens,
    ...(gone === undefined ? {} : { context_management: { original_input_tokens: tokens + gone } }),
  });
  return { chat, members, gone, told };
}

/** The provider's count, together with the tokens that clearing removed before. */
function answerOf(said: string, { gone, told }: Countable): Response {
  if (gone === undefined) return new Response(said, { headers: { "content-type": "application/json" } });
  const { input_tokens: tokens } = JSON.parse(said) as { input_tokens: number };
  return Response.json(told(tokens));
}
