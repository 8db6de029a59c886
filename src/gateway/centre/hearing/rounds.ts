// The rounds of one answer that stages hear: which turn is asked, what each round cost, and whether another one follows.

import type { Usage } from "../../../chat/event.ts";
import type { RouteAttempt } from "../../calls/route-call.ts";
import { answerCompleted, answerSettled, roundEnd, spend } from "../answer.ts";
import type { WholeDeps } from "../deps.ts";
import type { BodyMembers, ChatTurn, CompleteAnswer, RoundEnd } from "../stage.ts";
import { nextRound, type Prepared } from "../walk.ts";
import { AnswerFilter } from "./filter.ts";

/** What answered a round. */
export interface RoundAnswer {
  /** The turn as it was sent. */
  readonly turn: ChatTurn;
  /** Undefined if a stage answered. */
  readonly attempt: RouteAttempt | undefined;
  readonly ttfbMs: number | null;
  /** The usage so far. */
  usage(): Usage | undefined;
}

export class Rounds {
  readonly filter: AnswerFilter;
  readonly #deps: WholeDeps;
  readonly #ends: RoundEnd[] = [];
  #ready: Prepared;
  #answered: RoundAnswer | undefined;

  constructor(deps: WholeDeps, ready: Prepared) {
    this.#deps = deps;
    this.#ready = ready;
    this.filter = new AnswerFilter(() => this.#answered?.usage());
    this.#begin(-1);
  }

  /** The turn to ask. */
  get ready(): Prepared {
    return this.#ready;
  }

  /** The turn as it was sent last. */
  get turn(): ChatTurn {
    return this.#answered?.turn ?? this.#ready.turn;
  }

  answered(by: RoundAnswer): void {
    this.#answered = by;
  }

  /** Ends a round; true if another one is to be asked, which `ready` then is. */
  async end(given: Omit<Parameters<AnswerFilter["end"]>[1], "facts">): Promise<boolean> {
    const { turn } = this.#ready;
    const usage = this.#answered?.usage();
    const facts = { index: turn.round ?? 0, route: this.#answered?.attempt?.route, usage };
    const again = await this.filter.end(turn, { ...given, facts });
    if (again === undefined) return false;
    this.spend({ status: 200, errorCode: null, isCall: true });
    this.#ready = await nextRound(this.#deps.stages[turn.origin], this.#ready, again);
    this.#begin(again.at);
    return true;
  }

  /** Records the cost of the round, once. `isCall`: the request goes on. */
  spend(as: { status: number; errorCode: string | null; isCall?: true }): void {
    const answered = this.#answered;
    this.#answered = undefined;
    if (answered === undefined) return;
    const { turn, attempt, ttfbMs } = answered;
    const usage = answered.usage();
    if (attempt !== undefined && usage !== undefined) spend(this.#deps, turn, attempt, { usage, ttfbMs, ...as });
    this.#ends.push(roundEnd(turn, attempt, usage));
  }

  /** Lets the stages keep what they need of the answer, up to the one that stopped it. */
  complete(
    answer: Omit<CompleteAnswer, "turn" | "target" | "usage" | "hidesEncrypted">,
  ): Promise<BodyMembers | undefined> {
    const { runs, madeBy = runs.length } = this.#ready;
    const answered = this.#answered;
    const length = Math.min(madeBy, (this.filter.stoppedBy ?? runs.length) + 1);
    return answerCompleted(this.#deps, runs.slice(0, length), {
      turn: this.turn,
      target: answered?.attempt,
      usage: answered?.usage(),
      // What the client gets is written anew.
      hidesEncrypted: false,
      ...answer,
    });
  }

  /** Tells the stages that the answer is over. */
  settle(turn: ChatTurn): void {
    answerSettled(this.#ready.runs, { turn, rounds: this.#ends });
  }

  #begin(maker: number): void {
    const { runs, turn, madeBy = runs.length } = this.#ready;
    this.filter.begin(runs, turn, { length: madeBy, maker });
  }
}
