// The pipeline of one chat request: admit it, read it, find its model, let the stages prepare it, then answer it. The differences
// between protocols are in the dialects and formats, those between features in the stages.
//
// The one table of retries, from the outside in:
// * spread.ts: the request's models, until one answers;
// * calls/attempts.ts: the model's routes, in rounds, and the credentials of each;
// * walk.ts, `onRoute`: the same route once more, with what a stage changed after a failure (`StageRun.again`).

import { lazily } from "../../base/lazily.ts";
import { readJsonText } from "../../http/body.ts";
import { exchangeOf } from "../../http/exchange.ts";
import type { WireFormat } from "../../wire/format.ts";
import type { Caller } from "../admission/caller.ts";
import type { GatewayDeps } from "./deps.ts";
import type { ChatOutcome } from "./direct-chat.ts";
import type { AdmittedRequest } from "./opened.ts";
import { sourceOf } from "./request-source.ts";
import type { Answer } from "./stage.ts";

export type Gateway = ReturnType<typeof createGateway>;

/** No start answers a chat. */
const chats = lazily(() => {
  const { DirectChat }: typeof import("./direct-chat.ts") = require("./direct-chat.ts");
  const { answerRead }: typeof import("./opened.ts") = require("./opened.ts");
  return { DirectChat, answerRead };
});

/** Creates the pipeline. */
export function createGateway(deps: GatewayDeps) {
  /** Answers a chat request in the given format. `source`: where it comes from, if not from a client over HTTP. */
  async function handle(request: Request, format: WireFormat, source = sourceOf(request)): Promise<Answer> {
    const exchange = exchangeOf(request);
    const admitted = deps.admit(request, exchange);
    const caller = admitted instanceof Promise ? await admitted : admitted;
    const read = await readJsonText(request, deps.bodyLimits());
    return chats().answerRead(deps, { source, request, exchange, caller, format }, read);
  }

  /** The same for a client over HTTP, at less cost for plain requests. Tells the listener later, or throws at once. */
  function answer<T>(request: Request, format: WireFormat, outcome: ChatOutcome<T>): void {
    const exchange = exchangeOf(request);
    const caller = deps.admit(request, exchange);
    const source = sourceOf(request);
    // Admission is usually synchronous, so that no turn of the event loop is needed for it.
    if (caller instanceof Promise) beginLater(caller, { source, request, exchange, format }, outcome);
    else begin({ source, request, exchange, caller, format }, outcome);
  }

  function beginLater<T>(
    caller: Promise<Caller>,
    asked: Omit<AdmittedRequest, "caller">,
    outcome: ChatOutcome<T>,
  ): void {
    caller
      .then((known) => begin({ ...asked, caller: known }, outcome))
      .catch((error: unknown) => outcome.listener.failed(error));
  }

  function begin<T>(admitted: AdmittedRequest, outcome: ChatOutcome<T>): void {
    new (chats().DirectChat)(deps, admitted, outcome).begin();
  }

  return { handle, answer };
}
