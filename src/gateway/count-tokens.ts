// POST /v1/messages/count_tokens: asked of the model's first provider when that counts itself, else counted here. Spends
// nothing and does not count against the rate limit.

import { requireModel } from "../catalog/resolve.ts";
import type { ChatRequest } from "../chat/request.ts";
import { readJsonBody } from "../http/body.ts";
import { exchangeOf } from "../http/exchange.ts";
import type { FileStore } from "../store/work/files.ts";
import { fetchAnswer } from "../upstream/ask.ts";
import { UpstreamFault } from "../upstream/fault.ts";
import type { Provider } from "../upstream/provider.ts";
import { decodeCountTokens } from "../wire/messages/decode.ts";
import { messagesFormat } from "../wire/messages/format.ts";
import { decodeOptions, forwardedHeaders } from "./chat-exchange.ts";
import type { GatewayDeps } from "./deps.ts";
import { withFiles } from "./media.ts";
import { historyReader, openHistory } from "./open-history.ts";
import { orderRoutes } from "./order.ts";
import { clientError } from "./policy.ts";
import { promptTokens } from "./prompt-tokens.ts";
import { refusesReasoning } from "./refused-reasoning.ts";
import { refuseUntranslatable } from "./untranslatable.ts";
import { routesOfThread, threadOf } from "./upstream-threads.ts";

/** Counting is quick or not worth waiting for. */
const TIMEOUT_MS = 15_000;

type CountDeps = Pick<
  GatewayDeps,
  "admit" | "bodyLimits" | "catalog" | "isDecisionModel" | "provider" | "scrub" | "clock" | "reasoning" | "threads"
> & { files: FileStore };

/** Builds the handler. */
export function createTokenCount(deps: CountDeps): (request: Request) => Promise<Response> {
  return async (request) => {
    const exchange = exchangeOf(request);
    const caller = await deps.admit(request, exchange, { free: true });
    const { text, body } = await readJsonBody(request, deps.bodyLimits());
    const chat = decodeCountTokens(body, decodeOptions(request));
    const { model, routes } = requireModel(deps.catalog(), chat.model, {
      tier: caller.account.tier,
      isDecisionModel: deps.isDecisionModel,
    });
    exchange.log["model"] = model.id;
    exchange.headers["x-sallyport-model"] = encodeURI(model.id);
    const thread = threadOf(messagesFormat, body);
    const { accountId } = caller;
    const open = thread === undefined ? routes : routesOfThread(thread, routes, { ...deps, accountId });
    const [route] = orderRoutes(open, { random: () => 0 });
    const provider = route === undefined ? undefined : deps.provider(route.provider);
    const build = provider?.dialect.tokenCount;
    if (route === undefined || provider === undefined || build === undefined) {
      if (provider !== undefined) refuseUncountable(chat, provider);
      return Response.json({ input_tokens: await promptTokens(chat) });
    }
    const filled = await withFiles(deps.files, caller.accountId, body);
    const history = { text, body, members: filled === body ? {} : { messages: filled["messages"] } };
    const opened = openHistory(
      history,
      messagesFormat,
      historyReader(provider, route.model, { ...deps, accountId: caller.accountId, messages: chat.messages }),
    );
    const built = build(
      opened.text,
      chat,
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
      const { text: counted } = await fetchAnswer(provider, built, { clock: deps.clock, signal });
      return new Response(counted, { headers: { "content-type": "application/json" } });
    } catch (error) {
      // The request itself would be asked again without the reasoning that is refused.
      if (error instanceof UpstreamFault && error.kind === "bad_request" && !refusesReasoning(error))
        throw clientError(error, deps.scrub, messagesFormat.dialect);
      request.signal.throwIfAborted();
      // Not every server that speaks the protocol counts; an estimate is better than none.
      exchange.log["count_estimated"] = true;
      return Response.json({ input_tokens: await promptTokens(chat) });
    }
  };
}

/**
 * What the provider could not be asked cannot be counted for it either; a wish for a summary is skipped in counting.
 */
function refuseUncountable(chat: ChatRequest, provider: Provider): void {
  const { compaction: _compaction, ...extra } = chat.extra;
  const { maxTokens: _limit, ...asked } = chat;
  refuseUntranslatable({ ...asked, extra }, messagesFormat, provider);
}
