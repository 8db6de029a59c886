// Answers a request that does not want a stream, and whose answer stages hear.

import { platformSignal } from "../../../base/stop-signal.ts";
import { type ChatEvent, lastFinish } from "../../../chat/event.ts";
import { fold } from "../../../chat/fold.ts";
import { asApiError } from "../../../http/errors.ts";
import { UpstreamFault } from "../../../upstream/fault.ts";
import type { Source } from "../../../wire/seal-envelopes.ts";
import { clientError } from "../../rules/policy.ts";
import { noteCost, usageOfAnswer } from "../../usage/meter.ts";
import { correctedText } from "../answer.ts";
import { type AskedWhole, noteWhole, readable, tryWhole, type WholeDeadline } from "../asked-whole.ts";
import { writerContext } from "../build.ts";
import type { GatewayDeps, WholeDeps } from "../deps.ts";
import type { Answer, ChatTurn } from "../stage.ts";
import type { Prepared } from "../walk.ts";
import { Rounds } from "./rounds.ts";

interface HeardOptions {
  readonly deadline: WholeDeadline;
  /** The checks before which nothing leaves. */
  readonly gates: Promise<unknown> | undefined;
}

/** Answers with what the stages let pass. */
export function answerHeard(deps: GatewayDeps, prepared: Prepared, options: HeardOptions): Promise<Answer> {
  return hear(deps, prepared, { ...options, use: written });
}

/**
 * Asks for one round or several, and gives `use` the events that the stages let pass. If anything fails, what it cost is recorded.
 */
export async function hear<T>(
  deps: WholeDeps,
  prepared: Prepared,
  { deadline, gates, use }: HeardOptions & { use(heard: HeardAnswer): Promise<T> },
): Promise<T> {
  const rounds = new Rounds(deps, prepared);
  const events: ChatEvent[] = [];
  const signal = platformSignal(deadline.signal);
  const send = (some: readonly ChatEvent[]) => void events.push(...some);
  let last: RoundHeard;
  try {
    do {
      last = await ask(deps, rounds, deadline);
      send(rounds.filter.take(last.events));
      // The gates of the first round have passed before another one is asked.
      if (gates !== undefined) await gates;
    } while (await rounds.end({ signal, send }));
    return await use({ ...last, events, rounds });
  } catch (error) {
    const told = error instanceof UpstreamFault ? clientError(error, deps.scrub, prepared.turn.format.dialect) : error;
    const { status, apiCode: errorCode } = asApiError(told);
    rounds.spend({ status, errorCode, isCall: true });
    throw told;
  }
}

/** What the stages let pass. */
export interface HeardAnswer extends RoundHeard {
  readonly rounds: Rounds;
}

/** The answer to one round. */
interface RoundHeard {
  readonly turn: ChatTurn;
  readonly events: readonly ChatEvent[];
  /** Undefined if a stage answered. */
  readonly asked: AskedWhole | undefined;
  /** Who issued the sealed values in the answer of a stage. */
  readonly source?: Source | undefined;
}

async function ask(deps: WholeDeps, rounds: Rounds, deadline: WholeDeadline): Promise<RoundHeard> {
  const { ready } = rounds;
  if (ready.made !== undefined) {
    const { events, edited, source } = await ready.made.answer(platformSignal(deadline.signal));
    const turn = edited === undefined ? ready.turn : { ...ready.turn, edited };
    rounds.answered({ turn, attempt: undefined, ttfbMs: null, usage: () => undefined });
    return { turn, events, asked: undefined, source };
  }
  const asked = await tryWhole(deps, ready, { deadline, take: async (asked) => readable(deps, asked) });
  const { turn, attempt, read, ttfbMs } = asked;
  const usage = usageOfAnswer(turn.chat, read.events, turn.model.prices);
  const finish = lastFinish(read.events);
  attempt.end({ outcome: "ok", label: "ok", usage, finishReason: finish?.rawReason });
  rounds.answered({ turn, attempt, ttfbMs, usage: () => usage });
  noteWhole(asked, finish);
  noteCost(turn.exchange.headers, turn.model.prices, usage);
  const events = read.events.map((event) => (event === finish ? { ...event, usage } : event));
  return { turn, events, asked };
}

async function written({ turn, asked, events, source, rounds }: HeardAnswer): Promise<{ text: string }> {
  const context = writerContext(turn, asked?.attempt.provider);
  const body = turn.format.encode(fold(events), source === undefined ? context : { ...context, source });
  const text = JSON.stringify(body);
  const corrected = await rounds.complete({ fault: undefined, text: () => text, body: () => body });
  rounds.spend({ status: 200, errorCode: null });
  rounds.settle(turn);
  return { text: corrected === undefined ? text : correctedText(text, corrected) };
}
