// The pipeline of one chat request: admit it, read it, find its model, let the stages prepare it, then answer it. The differences
// between protocols are in the dialects and formats, those between features in the stages.
//
// The one table of retries, from the outside in:
// * spread.ts: the request's models, until one answers;
// * calls/attempts.ts: the model's routes, in rounds, and the credentials of each;
// * walk.ts, `onRoute`: the same route once more, with what a stage changed after a failure (`StageRun.again`).

import { resolveModel } from "../../catalog/resolve.ts";
import { readJsonText } from "../../http/body.ts";
import { exchangeOf } from "../../http/exchange.ts";
import type { RoutingOptions, WireFormat } from "../../wire/format.ts";
import { withoutTags } from "../admission/tags.ts";
import { headerText } from "./answer.ts";
import type { GatewayDeps } from "./deps.ts";
import { sourceOf } from "./request-source.ts";
import type { Answer } from "./stage.ts";
import { answerStreaming } from "./streamed.ts";
import { type AskedRequest, decodeOptions, turnOf, withUsualNames } from "./turn.ts";
import { type Prepared, prepared } from "./walk.ts";
import { answerWhole } from "./whole.ts";

export type Gateway = ReturnType<typeof createGateway>;

/** Creates the pipeline. */
export function createGateway(deps: GatewayDeps) {
  /** Answers a chat request in the given format. `source`: where it comes from, if not from a client over HTTP. */
  async function handle(request: Request, format: WireFormat, source = sourceOf(request)): Promise<Answer> {
    const exchange = exchangeOf(request);
    const admitted = deps.admit(request, exchange);
    // Admission is usually synchronous, so that no turn of the event loop is needed for it.
    const caller = admitted instanceof Promise ? await admitted : admitted;
    const { text, body } = withoutTags(
      withUsualNames(await readJsonText(request, deps.bodyLimits()), format),
      exchange,
    );
    const routing = routingOptionsOf(deps, format, body);
    const asked = { source, request, exchange, caller, format, text, body, routing, reservation: undefined };
    if (routing === undefined && format.prompts === undefined) return answerOne(deps, asked);
    // Few requests name several models or have several prompts.
    const { answerAll } = await import("./spread.ts");
    return answerAll(deps, asked, async (one) => answerOne(deps, one));
  }

  return { handle };
}

/** The routing options of a request, unless the model's provider reads them itself. */
function routingOptionsOf(
  deps: GatewayDeps,
  format: WireFormat,
  body: Record<string, unknown>,
): RoutingOptions | undefined {
  const options = format.routingOptions?.(body);
  const { model } = body;
  if (options === undefined || typeof model !== "string") return options;
  const routes = resolveModel(deps.catalog(), model)?.routes ?? [];
  return routes.some(({ provider }) => deps.provider(provider)?.quirks.route_wishes === true) ? undefined : options;
}

function answerOne(deps: GatewayDeps, asked: AskedRequest): Promise<Answer> {
  const { request, format } = asked;
  const options = decodeOptions(request);
  const turn = turnOf(deps, asked, format.decode(asked.body, options), options);
  const { larger } = turn.model;
  if (larger !== undefined && asked.instead === undefined) {
    // Few models name a larger one.
    return import("./larger.ts").then(({ answerOrLarger }) =>
      answerOrLarger(deps, { asked, turn, larger }, async (one) => answerOne(deps, one)),
    );
  }
  turn.exchange.headers["x-sallyport-model"] = headerText(turn.model.id);
  const walked = prepared(deps.stages[turn.origin], turn);
  if (walked instanceof Promise) return walked.then((ready) => answerReady(deps, request, ready));
  return answerReady(deps, request, walked);
}

function answerReady(deps: GatewayDeps, request: Request, ready: Prepared): Promise<Answer> {
  const { turn, made } = ready;
  if (made !== undefined && turn.isHeard !== true) {
    // Few answers are made by a stage.
    return import("./made.ts").then(({ answerMade }) => answerMade(deps, request, ready, made));
  }
  return turn.chat.stream ? answerStreaming(deps, request, ready) : answerWhole(deps, request, ready);
}
