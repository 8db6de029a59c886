// POST /v1/messages/count_tokens: asked of the model's first provider when that counts itself, else counted here. Spends
// nothing and does not count against the rate limit.

import { requireModel } from "../catalog/resolve.ts";
import type { ChatRequest } from "../chat/request.ts";
import { readJson } from "../http/body.ts";
import { exchangeOf } from "../http/exchange.ts";
import type { FileStore } from "../store/work/files.ts";
import { TokenCounter } from "../tokens/count.ts";
import { askProvider } from "../upstream/ask.ts";
import { UpstreamFault } from "../upstream/fault.ts";
import type { Provider } from "../upstream/provider.ts";
import { decodeCountTokens } from "../wire/messages/decode.ts";
import { messages } from "../wire/messages/format.ts";
import { decodeOptions, forwardedHeaders } from "./chat-exchange.ts";
import type { GatewayDeps } from "./deps.ts";
import { withFiles } from "./media.ts";
import { promptText } from "./meter.ts";
import { historyReader, openHistory } from "./open-history.ts";
import { orderRoutes } from "./order.ts";
import { clientError } from "./policy.ts";
import { refusesReasoning } from "./refused-reasoning.ts";
import { refuseUnsayable } from "./untranslatable.ts";
import { routesOfThread, threadOf } from "./upstream-threads.ts";

/**
 * Anthropic counts width × height / 750 and scales images down to about 1.15 megapixels, so that this is a large image's
 * count; pixels are not looked at here.
 */
const IMAGE_TOKENS = 1600;
/** A page of a document is about 1,500 to 3,000 tokens there; documents are not opened here. */
const DOCUMENT_TOKENS = 3000;
/** Role marks and separators around a turn, and around a tool. */
const TURN_TOKENS = 4;
const TOOL_TOKENS = 8;
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
    const { text, body } = await readJson(request, deps.bodyLimits());
    const chat = decodeCountTokens(body, decodeOptions(request));
    const { model, routes } = requireModel(deps.catalog(), chat.model, {
      tier: caller.account.tier,
      isDecisionModel: deps.isDecisionModel,
    });
    exchange.log["model"] = model.id;
    exchange.headers["x-sallyport-model"] = encodeURI(model.id);
    const thread = threadOf(messages, body);
    const { accountId } = caller;
    const open = thread === undefined ? routes : routesOfThread(thread, routes, { ...deps, accountId });
    const [route] = orderRoutes(open, { random: () => 0 });
    const provider = route === undefined ? undefined : deps.provider(route.provider);
    const build = provider?.dialect.tokenCount;
    if (route === undefined || provider === undefined || build === undefined) {
      if (provider !== undefined) refuseUncountable(chat, provider);
      return Response.json(await estimate(chat));
    }
    const filled = await withFiles(deps.files, caller.accountId, body);
    const history = { text, body, members: filled === body ? {} : { messages: filled["messages"] } };
    const opened = openHistory(
      history,
      messages,
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
      const { text: counted } = await askProvider(provider, built, { clock: deps.clock, signal });
      return new Response(counted, { headers: { "content-type": "application/json" } });
    } catch (error) {
      // The request itself would be asked again without the reasoning that is refused.
      if (error instanceof UpstreamFault && error.kind === "bad_request" && !refusesReasoning(error))
        throw clientError(error, deps.scrub, messages.dialect);
      request.signal.throwIfAborted();
      // Not every server that speaks the protocol counts; an estimate is better than none.
      exchange.log["count_estimated"] = true;
      return Response.json(await estimate(chat));
    }
  };
}

/** What the provider could not be asked cannot be counted for it either; a wish for a summary is passed over in counting. */
function refuseUncountable(chat: ChatRequest, provider: Provider): void {
  const { compaction: _compaction, ...extra } = chat.extra;
  const { maxTokens: _limit, ...asked } = chat;
  refuseUnsayable({ ...asked, extra }, messages, provider);
}

async function estimate(chat: ChatRequest): Promise<{ input_tokens: number }> {
  const counter = new TokenCounter();
  let tokens = (await counter.count(promptText(chat))) + TURN_TOKENS * chat.messages.length;
  for (const tool of chat.tools) {
    tokens += TOOL_TOKENS + (tool.type === "server" ? await counter.count(JSON.stringify(tool.value)) : 0);
  }
  for (const message of chat.messages) for (const part of message.content) tokens += await mediaTokens(part, counter);
  return { input_tokens: tokens };
}

async function mediaTokens(
  part: ChatRequest["messages"][number]["content"][number],
  counter: TokenCounter,
): Promise<number> {
  switch (part.type) {
    case "image":
      return IMAGE_TOKENS;
    case "file":
      return part.source.kind === "text" ? counter.count(part.source.text) : DOCUMENT_TOKENS;
    case "opaque":
      return counter.count(JSON.stringify(part.value));
    case "tool-result": {
      let tokens = 0;
      for (const inner of part.content) tokens += await mediaTokens(inner, counter);
      return tokens;
    }
    default:
      return 0;
  }
}
