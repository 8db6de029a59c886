// One whole answer to a request that the gateway makes itself: it passes the stages that open for such requests, and the model's
// routes, like a client's.

import { Stop, type StopSignal } from "../../base/stop-signal.ts";
import type { CatalogModel, ModelRoute } from "../../catalog/models.ts";
import type { ChatEvent, Usage } from "../../chat/event.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { gatesOf, spend } from "../centre/answer.ts";
import { readable, tryWhole, type WholeDeadline } from "../centre/asked-whole.ts";
import type { WholeDeps } from "../centre/deps.ts";
import type { StageRun } from "../centre/stage.ts";
import { prepared } from "../centre/walk.ts";
import { usageOfAnswer } from "../usage/meter.ts";
import { type InnerRequestOf, innerTurn } from "./inner-turn.ts";

/** What such a request needs. */
export type InnerDeps = Omit<WholeDeps, "sealed" | "keepFailed">;

interface InnerOptions {
  readonly of: InnerRequestOf;
  readonly deadline: WholeDeadline;
  /** Whether it is a part of the caller's request, which has a row of its own. */
  readonly isCall?: true;
  /** The work of the caller's own, after that of the stages. */
  readonly own?: StageRun;
}

/** Asks a model. Throws `ApiError` if no route answers, or a stage refuses. */
export async function innerAnswer(
  calls: InnerDeps,
  asked: { model: CatalogModel; routes: readonly ModelRoute[]; chat: ChatRequest },
  { of, deadline: { signal: given, remainingMs }, isCall, own }: InnerOptions,
): Promise<{ events: readonly ChatEvent[]; usage: Usage }> {
  const deps: WholeDeps = { ...calls, sealed: () => undefined };
  const { signal, ended } = stopOf(given);
  const { turn, end } = innerTurn(asked, of, { clock: deps.clock, signal });
  const deadline = { signal, remainingMs };
  const as = { status: 200, errorCode: null, ...(isCall === undefined ? {} : { isCall }) };
  try {
    const walked = await prepared(deps.stages.inner, turn);
    const ready = own === undefined ? walked : { ...walked, runs: [...walked.runs, own] };
    const gates = ready.runs.length === 0 ? undefined : gatesOf(ready.runs, ready.turn, signal);
    if (ready.turn.isHeard === true || ready.made !== undefined) {
      const { hear } = await import("../centre/hearing/heard-whole.ts");
      return await hear(deps, ready, {
        deadline,
        gates,
        use: async ({ turn: sent, events, rounds, asked: read }) => {
          const usage = usageOfAnswer(sent.chat, read?.read.events ?? events, undefined);
          rounds.spend(as);
          rounds.settle(sent);
          return { events, usage };
        },
      });
    }
    return await tryWhole(deps, ready, {
      deadline,
      take: async (answer) => {
        const { turn: sent, attempt, read } = readable(deps, answer);
        const usage = usageOfAnswer(sent.chat, read.events, undefined);
        if (gates !== undefined) await gates;
        attempt.end({ outcome: "ok", label: "ok", usage });
        spend(deps, sent, attempt, { usage, ttfbMs: null, ...as });
        return { events: read.events, usage };
      },
    });
  } finally {
    ended();
    end();
  }
}

/** A signal that a refusal may abort too. */
function stopOf(given: StopSignal) {
  const signal = new Stop();
  const stop = () => signal.abort(given.reason);
  if (given.aborted) stop();
  given.addEventListener("abort", stop, { once: true });
  return { signal, ended: () => given.removeEventListener("abort", stop) };
}
