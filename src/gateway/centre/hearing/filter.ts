// The way of an answer from its source to the client, through the stages that hear it or may ask for another round. The last stage
// of the list is the first on the way.

import type { ChatEvent, Usage } from "../../../chat/event.ts";
import type { BetweenRounds, Change, ChatTurn, StageRun } from "../stage.ts";
import { Layer, type RoundFacts } from "./layer.ts";

/** The end of a round: another one is asked for by the run at that place, or the answer is complete. */
export type RoundAsked = { readonly at: number; readonly change: Change } | undefined;

/** A stage's run on the way of the answer. */
interface Place {
  readonly at: number;
  readonly run: StageRun;
  readonly layer: Layer;
}

export class AnswerFilter {
  /** From the source to the client. */
  #places: readonly Place[] = [];
  readonly #usage: () => Usage | undefined;

  /** `usage`: the usage of the round so far, for an answer that is stopped. */
  constructor(usage: () => Usage | undefined) {
    this.#usage = usage;
  }

  /**
   * Begins a round that is answered below the first `length` of the runs. The runs up to `maker`, which asked for it, go on with
   * the same answer.
   */
  begin(runs: readonly StageRun[], turn: ChatTurn, { length, maker }: { length: number; maker: number }): void {
    const places: Place[] = [];
    for (let at = length - 1; at > maker; at--) {
      const run = runs[at]!;
      if (run.hears === undefined && run.next === undefined) continue;
      places.push({ at, run, layer: new Layer(run, turn, this.#usage) });
    }
    this.#places = [...places, ...this.#places.filter(({ at }) => at <= maker)];
  }

  /** The place in the list of the last stage that ended the answer; undefined if none did. */
  get stoppedBy(): number | undefined {
    return this.#places.findLast(({ layer }) => layer.isStopped)?.at;
  }

  /** Passes events on. */
  take(events: readonly ChatEvent[]): readonly ChatEvent[] {
    return this.#above(-1, events);
  }

  /** Ends a round. `send` takes the events for the client, those before a further round and those that end the answer. */
  async end(
    turn: ChatTurn,
    { facts, signal, send }: { facts: RoundFacts; signal: AbortSignal; send(events: readonly ChatEvent[]): void },
  ): Promise<RoundAsked> {
    const stopped = this.#places.findLastIndex(({ layer }) => layer.isStopped);
    for (let on = Math.max(stopped, 0); on < this.#places.length; on++) {
      const { at, run, layer } = this.#places[on]!;
      send(this.#above(on, await layer.release(signal)));
      if (run.next !== undefined && !layer.isStopped && this.stoppedBy === undefined) {
        const emit: BetweenRounds["emit"] = (event) => send(this.#above(on, layer.emit(event)));
        const change = await run.next(turn, layer.round(facts), { signal, emit });
        if (change !== undefined) {
          layer.again();
          return { at, change };
        }
      }
      send(this.#above(on, layer.finish()));
    }
    return undefined;
  }

  /** Passes events through the stages above a place. */
  #above(on: number, events: readonly ChatEvent[]): readonly ChatEvent[] {
    let passing = events;
    for (let next = on + 1; next < this.#places.length; next++) passing = this.#places[next]!.layer.pass(passing);
    return passing;
  }
}
