// POST /v1/responses/input_tokens: forwarded to the model's first provider if it speaks Responses, otherwise counted by the
// gateway. Costs nothing and does not count against the rate limit; what an account may have counted has its own.

import { spliceMembers } from "../../../base/json-splice.ts";
import { readJsonBody } from "../../../http/body.ts";
import { exchangeOf } from "../../../http/exchange.ts";
import { fetchAnswer } from "../../../upstream/ask.ts";
import { UpstreamFault } from "../../../upstream/fault.ts";
import { responsesFormat } from "../../../wire/responses/format.ts";
import { withoutTags } from "../../admission/tags.ts";
import { orderRoutes } from "../../calls/order.ts";
import type { GatewayDeps } from "../../centre/deps.ts";
import { HTTP_CLIENT } from "../../centre/request-source.ts";
import type { Stage } from "../../centre/stage.ts";
import { decodeOptions, turnOf } from "../../centre/turn.ts";
import { prepared } from "../../centre/walk.ts";
import { clientError } from "../../rules/policy.ts";
import { promptTokens } from "../../usage/prompt-tokens.ts";
import { refusedCount } from "./counting.ts";
import type { CountingAllowance } from "./counting-allowance.ts";

/** The time limit for the provider's count; a slower one is not worth the wait. */
const TIMEOUT_MS = 15_000;
/** The path of OpenAI's endpoint, below the base URL. */
const UPSTREAM_PATH = "/responses/input_tokens";

type InputTokensDeps = Pick<
  GatewayDeps,
  "admit" | "bodyLimits" | "catalog" | "isDecisionModel" | "provider" | "scrub" | "clock"
> & {
  allowance: CountingAllowance;
  /** The stages that complete the content of a request, and say what of it may be sent. */
  guardedStages: readonly Stage[];
};

/** Creates the handler. */
export function createInputTokens(deps: InputTokensDeps): (request: Request) => Promise<Response> {
  return async (request) => {
    const exchange = exchangeOf(request);
    const caller = await deps.admit(request, exchange, { free: true });
    const ticket = deps.allowance.enter(caller.accountId, request);
    const { text, body } = withoutTags(await readJsonBody(request, deps.bodyLimits()), exchange);
    ticket.read(text.length);
    const options = decodeOptions(request);
    const format = responsesFormat;
    const read = { source: HTTP_CLIENT, request, exchange, caller, format, text, body };
    const asked = { ...read, routing: undefined, reservation: undefined };
    const turn = turnOf(deps, asked, format.decode(body, options), options);
    exchange.headers["x-sallyport-model"] = encodeURI(turn.model.id);
    const { chat, members, routes } = (await prepared(deps.guardedStages, turn)).turn;
    const counted = async () => answered(await promptTokens(chat));
    const [route] = orderRoutes(routes, { random: () => 0 });
    const provider = route === undefined ? undefined : deps.provider(route.provider);
    if (route === undefined || provider === undefined || provider.dialect.name !== responsesFormat.dialect)
      return counted();
    const call = {
      path: UPSTREAM_PATH,
      headers: {},
      body: spliceMembers(text, { ...members, model: route.model, stream: undefined, store: undefined }),
      dropped: [],
    };
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      return answered(countOf((await fetchAnswer(provider, call, { clock: deps.clock, signal })).text));
    } catch (error) {
      if (refusedCount(error)) throw clientError(error, deps.scrub, responsesFormat.dialect);
      request.signal.throwIfAborted();
      // Not every server that speaks the protocol can count tokens; an estimate is better than none.
      exchange.log["count_estimated"] = true;
      return counted();
    }
  };
}

function answered(tokens: number): Response {
  return Response.json({ object: "response.input_tokens", input_tokens: tokens });
}

/** Reads the count. Throws `UpstreamFault` if the provider answered something else. */
function countOf(text: string): number {
  const tokens = (JSON.parse(text) as { input_tokens?: unknown } | null)?.input_tokens;
  if (typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens >= 0) return tokens;
  throw new UpstreamFault("unavailable", "The provider's answer contains no count.");
}
