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
import type { GatewayDeps } from "./deps.ts";
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

  /** The same for a client over HTTP, at less cost for plain requests. `shown` makes of the answer what is sent. May throw at once. */
  function answer<T>(request: Request, format: WireFormat, shown: (answer: Answer, request: Request) => T): Promise<T> {
    const exchange = exchangeOf(request);
    const admitted = deps.admit(request, exchange);
    // Admission is usually synchronous, so that no turn of the event loop is needed for it.
    const source = sourceOf(request);
    if (admitted instanceof Promise)
      return admitted.then((caller) => begun({ source, request, exchange, caller, format }, shown));
    return begun({ source, request, exchange, caller: admitted, format }, shown);
  }

  function begun<T>(admitted: AdmittedRequest, shown: (answer: Answer, request: Request) => T): Promise<T> {
    const chat = new (chats().DirectChat)(deps, admitted, shown);
    chat.begin();
    return chat.answer;
  }

  return { handle, answer };
}
