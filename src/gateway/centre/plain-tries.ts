// What the attempts at a plain request depend on, as an object of one shape.

import type { Stop } from "../../base/stop-signal.ts";
import type { ChatRequest } from "../../chat/request.ts";
import type { TriesOptions } from "../calls/attempts.ts";
import type { CallTrace } from "../calls/route-call.ts";
import type { ChatTurn } from "./stage.ts";
import { tryOptions } from "./turn.ts";

/** The time that an answer has. */
interface TimeLimit {
  readonly signal: Stop;
  remainingMs(): number;
}

/** The options of the attempts at a plain request. */
export class PlainTries implements TriesOptions {
  readonly trace: CallTrace;
  readonly chat: ChatRequest;
  readonly family: TriesOptions["family"];
  readonly account: TriesOptions["account"];
  readonly first: TriesOptions["first"];
  readonly #limit: TimeLimit;

  constructor(turn: ChatTurn, limit: TimeLimit) {
    const { trace, chat, family, account, first } = tryOptions(turn);
    this.trace = trace;
    this.chat = chat;
    this.family = family;
    this.account = account;
    this.first = first;
    this.#limit = limit;
  }

  get signal(): Stop {
    return this.#limit.signal;
  }

  remainingMs(): number {
    return this.#limit.remainingMs();
  }
}
