// Streams an answer that stages hear: what they let pass of one round or several is written as one answer. While a stage works
// between two rounds, its own events are sent at once.

import type { Stop } from "../../../base/stop-signal.ts";
import type { AnswerFault } from "../../../chat/answer-fault.ts";
import type { ChatEvent } from "../../../chat/event.ts";
import { asApiError } from "../../../http/errors.ts";
import { STOPPED } from "../../../store/usage/record.ts";
import type { EventWriter } from "../../../wire/format.ts";
import { writerContext } from "../build.ts";
import type { GatewayDeps } from "../deps.ts";
import { endAttempt, noteLive, type ProviderStream, usageOf } from "../live.ts";
import type { BodyMembers, ChatTurn } from "../stage.ts";
import type { Prepared } from "../walk.ts";
import { Rounds } from "./rounds.ts";

/** Asks a turn's routes until one streams. */
type OpenRound = (ready: Prepared) => Promise<ProviderStream>;

/** Where the events of a round come from. */
interface RoundSource {
  /** The provider's stream; undefined if a stage answered. */
  readonly live: ProviderStream | undefined;
  /** The next events; undefined at the end. */
  next(): Promise<readonly ChatEvent[] | undefined>;
}

/** Asks the first round. */
export async function openHeard(deps: GatewayDeps, ready: Prepared, options: HeardStreamOptions): Promise<HeardStream> {
  const stream = new HeardStream(deps, ready, options);
  await stream.begin();
  return stream;
}

interface HeardStreamOptions {
  readonly open: OpenRound;
  readonly stop: Stop;
  /** Whether the client wants the short names of events. */
  readonly isShort: boolean;
}

export class HeardStream {
  readonly isHeard = true;
  readonly #options: HeardStreamOptions;
  readonly #rounds: Rounds;
  readonly #context: ReturnType<typeof writerContext>;
  readonly #writer: EventWriter;
  #source: RoundSource | undefined;
  /** The work after a round. */
  #ending: Promise<void> | undefined;
  /** Text that was written after a round. */
  #written = "";
  #wake: (() => void) | undefined;
  /** Whether the last text was written. */
  #isDone = false;
  #isOver = false;
  #isCancelled = false;
  /** Whether the work after a round is under way, which may ask another one. */
  #isEnding = false;
  #errorCode: string | null = null;

  constructor(deps: GatewayDeps, ready: Prepared, options: HeardStreamOptions) {
    this.#options = options;
    this.#rounds = new Rounds(deps, ready);
    const { turn } = ready;
    this.#context = writerContext(turn, undefined, options.isShort);
    this.#writer = turn.format.writer(this.#context);
  }

  /** The turn as it was sent last. */
  get turn(): ChatTurn {
    return this.#rounds.turn;
  }

  /** The parsed answer once it is complete. */
  get answer(): BodyMembers | undefined {
    return this.#writer.answer;
  }

  get fault(): AnswerFault | undefined {
    return this.#source?.live?.relay.fault;
  }

  /** Asks a round. */
  async begin(): Promise<void> {
    const { ready } = this.#rounds;
    const { made } = ready;
    if (made !== undefined) {
      const { events, edited, source } = await made.answer(this.#options.stop.platform);
      if (edited !== undefined) Object.assign(this.#context, { edited });
      if (source !== undefined) Object.assign(this.#context, { source });
      let given: readonly ChatEvent[] | undefined = events;
      const next = async () => {
        const some = given;
        given = undefined;
        return some;
      };
      this.#source = { live: undefined, next };
      const { turn } = ready;
      this.#rounds.answered({ turn, attempt: undefined, ttfbMs: null, usage: () => undefined });
      return;
    }
    const live = await this.#options.open(ready);
    const { source } = writerContext(live.turn, live.attempt.provider);
    Object.assign(this.#context, { source, edited: live.turn.edited });
    this.#source = { live, next: async () => ((await live.next()) === undefined ? undefined : live.buffer?.drain()) };
    const ttfbMs = performance.now() - live.turn.exchange.startedMs;
    const { turn, attempt } = live;
    this.#rounds.answered({ turn, attempt, ttfbMs, usage: () => usageOf(live) });
    // The client left while the round began. Nobody reads it, but its usage still counts.
    if (this.#isCancelled) live.cancel();
  }

  note(): void {
    const live = this.#source?.live;
    if (live !== undefined) noteLive(live);
  }

  /** The next text; undefined at the end. Never throws. */
  async next(): Promise<string | undefined> {
    if (this.#isOver) return undefined;
    try {
      return this.#ending === undefined ? await this.#read() : await this.#waited(this.#ending);
    } catch (error) {
      this.#source?.live?.cancel();
      this.#isOver = true;
      this.#errorCode = asApiError(error).apiCode;
      const { requestId: request_id, log } = this.turn.exchange;
      log["error"] = this.#errorCode;
      return this.#writer.fail({ ...asApiError(error).body(), request_id });
    }
  }

  async #read(): Promise<string> {
    const source = this.#source!;
    const events = await source.next();
    const rest = events ?? source.live?.buffer?.drain() ?? [];
    const text = this.#taken() + this.#write(this.#rounds.filter.take(rest));
    const isStopped = this.#rounds.filter.stoppedBy !== undefined;
    if (isStopped) source.live?.cancel();
    else if (events !== undefined) return text;
    const failure = source.live?.buffer?.failure;
    if (failure !== undefined && !isStopped) {
      this.#isOver = true;
      return text + this.#writer.fail(failure);
    }
    // Nobody reads a further round.
    if (this.#isCancelled) return text;
    this.#ending = this.#ended();
    // The client is told of a failure when its stream waits for the text.
    this.#ending.catch(() => undefined);
    return text;
  }

  /** Waits for text that is written after a round. */
  async #waited(ending: Promise<void>): Promise<string> {
    if (this.#written === "" && !this.#isDone) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await Promise.race([ending, promise]);
    }
    this.#isOver = this.#isDone;
    return this.#taken();
  }

  #taken(): string {
    const text = this.#written;
    this.#written = "";
    return text;
  }

  #write(events: readonly ChatEvent[]): string {
    let text = "";
    for (const event of events) text += this.#writer.push(event);
    return text;
  }

  /** Works after a round. If the client leaves meanwhile, the answer is settled once, with what a further round has cost. */
  async #ended(): Promise<void> {
    this.#isEnding = true;
    try {
      await this.#end();
    } finally {
      this.#isEnding = false;
      if (this.#isCancelled) this.settle(true);
    }
  }

  async #end(): Promise<void> {
    const send = (events: readonly ChatEvent[]) => {
      this.#written += this.#write(events);
      this.#wake?.();
    };
    const { live } = this.#source!;
    if (live !== undefined) endAttempt(live, false);
    if (await this.#rounds.end({ signal: this.#options.stop.platform, send })) {
      await this.begin();
      this.#ending = undefined;
      return;
    }
    this.#written += this.#writer.end();
    this.#isDone = true;
  }

  complete(text: () => string): Promise<BodyMembers | undefined> {
    return this.#rounds.complete({ fault: this.fault, text, body: () => this.answer });
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#source?.live?.cancel();
  }

  /** Records an answer of which nothing is sent. */
  refuse(as: { errorCode: string; status: number }): void {
    const { turn } = this;
    const live = this.#source?.live;
    if (live !== undefined) endAttempt(live, true);
    this.#rounds.spend({ ...as, isCall: true });
    this.#rounds.settle(turn);
  }

  /** Records the outcome. Called once. */
  settle(gone: boolean): void {
    if (gone && this.#isEnding) return;
    const { turn, fault } = this;
    const live = this.#source?.live;
    if (live !== undefined) endAttempt(live, gone);
    if (fault !== undefined) turn.exchange.log["error"] = fault.code;
    this.#rounds.spend({ status: 200, errorCode: this.#errorCode ?? fault?.code ?? (gone ? STOPPED : null) });
    this.#rounds.settle(turn);
  }
}
