// Answers a request that does not want a stream.

import type { AtOnce } from "../../base/at-once.ts";
import { failureOf, lastFinish, type Usage } from "../../chat/event.ts";
import { fold } from "../../chat/fold.ts";
import type { Provider } from "../../upstream/provider.ts";
import { withinDeadline } from "../calls/request-deadline.ts";
import { faultOfAnswer, faultOfReading } from "../rules/policy.ts";
import { noteCost, usageOfAnswer } from "../usage/meter.ts";
import { answerCompleted, answerSettled, correctedText, gatesOf, roundEnd, spend } from "./answer.ts";
import { type AskedWhole, noteWhole, spendUnused, tryWhole } from "./asked-whole.ts";
import { writerContext } from "./build.ts";
import type { GatewayDeps } from "./deps.ts";
import type { Answer, BodyMembers, ChatTurn, StageRun } from "./stage.ts";
import type { Prepared } from "./walk.ts";

/** Answers with the first route's complete and readable answer. */
export function answerWhole(deps: GatewayDeps, request: Request, ready: Prepared): Promise<Answer> {
  return withinDeadline(request, deps.requestTimeoutMs(), (deadline) => {
    const { turn, runs } = ready;
    const gates = runs.length === 0 ? undefined : gatesOf(runs, turn, deadline.signal);
    if (turn.isHeard === true) {
      return import("./hearing/heard-whole.ts").then(({ answerHeard }) =>
        answerHeard(deps, ready, { deadline, gates }),
      );
    }
    return tryWhole(deps, ready, { deadline, take: (asked) => wholeFrom(deps, runs, asked, gates) });
  });
}

function wholeFrom(
  deps: GatewayDeps,
  runs: readonly StageRun[],
  asked: AskedWhole,
  gates: Promise<unknown> | undefined,
): AtOnce<Answer> {
  if (gates === undefined) return answered(deps, runs, asked);
  return gates.then(
    () => answered(deps, runs, asked),
    (error: unknown) => {
      spendUnused(deps, asked, error);
      throw error;
    },
  );
}

function answered(deps: GatewayDeps, runs: readonly StageRun[], asked: AskedWhole): AtOnce<Answer> {
  const written = paidAnswer(deps, asked);
  return runs.length === 0 ? { text: written.text } : completed(deps, runs, asked, written);
}

/** The answer for the client, which is recorded. Throws if what was read is none. */
export function paidAnswer(deps: GatewayDeps, asked: AskedWhole): WrittenAnswer {
  const { turn, attempt, ttfbMs, read } = asked;
  let written: WrittenAnswer;
  try {
    written = writeWhole(turn, attempt.provider, read);
  } catch (error) {
    spendUnused(deps, asked, error);
    throw error;
  }
  const { usage } = written;
  const finish = lastFinish(read.events);
  attempt.end({ outcome: "ok", label: "ok", usage, finishReason: finish?.rawReason });
  noteWhole(asked, finish);
  spend(deps, turn, attempt, { usage, status: 200, errorCode: null, ttfbMs });
  noteCost(turn.exchange.headers, turn.model.prices, usage);
  return written;
}

/** Lets the stages keep and correct the answer. */
async function completed(
  deps: GatewayDeps,
  runs: readonly StageRun[],
  { turn, attempt, built, read }: AskedWhole,
  { usage, text, body }: WrittenAnswer,
): Promise<Answer> {
  const corrected = await answerCompleted(deps, runs, {
    turn,
    target: attempt,
    usage,
    fault: undefined,
    text: () => text,
    body: () => body ?? (JSON.parse(text) as BodyMembers),
    hidesEncrypted: read.lossless !== undefined && built.hidesEncrypted === true,
  });
  answerSettled(runs, { turn, rounds: [roundEnd(turn, attempt, usage)] });
  return { text: corrected === undefined ? text : correctedText(text, corrected) };
}

/** An answer in the client's format. */
interface WrittenAnswer {
  text: string;
  /** The parsed answer; undefined if it is not parsed yet. */
  body: BodyMembers | undefined;
  usage: Usage;
}

/** Writes the response text. Throws if the answer reports a failure or cannot be expressed in the client's format. */
function writeWhole(
  turn: ChatTurn,
  provider: Provider,
  { events, lossless, answer }: AskedWhole["read"],
): WrittenAnswer {
  const failure = failureOf(events);
  if (failure !== undefined) throw faultOfAnswer(failure);
  if (lossless !== undefined) {
    // Settled when the answer was read.
    const settled = lastFinish(events)?.usage;
    const usage = settled ?? usageOfAnswer(turn.chat, events, turn.model.prices);
    return { text: lossless, body: answer, usage };
  }
  const usage = usageOfAnswer(turn.chat, events, turn.model.prices);
  try {
    const result = fold(events);
    result.usage = usage;
    const body = turn.format.encode(result, writerContext(turn, provider));
    return { text: JSON.stringify(body), body, usage };
  } catch (error) {
    throw faultOfReading(error);
  }
}
