// A provider's stream that has begun: its usage, how its call ended, and what the client is told of it.

import type { AnswerFault } from "../../chat/answer-fault.ts";
import type { Usage } from "../../chat/event.ts";
import { outcomeOfFault } from "../../upstream/breaker.ts";
import type { FaultKind } from "../../upstream/fault.ts";
import type { LiveAnswer } from "../calls/open-stream.ts";
import type { AttemptEnd } from "../calls/route-call.ts";
import { kindOfCode } from "../rules/policy.ts";
import { usageSettler } from "../usage/meter.ts";
import { forwardHeaders, noteRoute } from "./answer.ts";
import { isLossless } from "./build.ts";
import type { EventBuffer } from "./hearing/event-buffer.ts";
import type { ChatTurn } from "./stage.ts";

/** A provider's stream that has started, with the turn as it was sent. */
export interface ProviderStream extends LiveAnswer {
  turn: ChatTurn;
  isHeard?: undefined;
  /** The events of the answer, if stages hear them. */
  buffer: EventBuffer | undefined;
}

/** Notes the route of a stream, and the headers of the provider that the client needs. */
export function noteLive({ turn, attempt, request, answer }: ProviderStream): void {
  noteRoute(turn, attempt, request.dropped);
  if (isLossless(turn, attempt.provider)) forwardHeaders(turn, attempt.provider, answer);
}

/** The usage of a stream, estimated if it ended before its provider reported it. */
export function usageOf({ relay, turn }: ProviderStream): Usage {
  return relay.usage ?? usageSettler(turn.chat, undefined)(undefined, relay.output);
}

/** Records how the call ended. */
export function endAttempt(live: ProviderStream, gone: boolean): void {
  live.attempt.end({ ...callEndOf(live.relay.fault, gone), usage: usageOf(live) });
}

/** Failures that metrics name also after content. */
const LABELLED: ReadonlySet<FaultKind> = new Set(["call_invalid", "refused"]);

export function callEndOf(fault: AnswerFault | undefined, gone: boolean): Pick<AttemptEnd, "outcome" | "label"> {
  if (fault !== undefined) {
    const kind = kindOfCode(fault.reported ?? fault.code);
    return { outcome: outcomeOfFault({ kind }), label: LABELLED.has(kind) ? kind : "interrupted" };
  }
  return gone ? { outcome: "unknown", label: "abandoned" } : { outcome: "ok", label: "ok" };
}
