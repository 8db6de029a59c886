// The guardrails of one chat request.

import type { BodyMembers, Change, ChatTurn, Hearing, StageRun } from "../../centre/stage.ts";
import type { Guards } from "./deps.ts";
import type { Guardrail } from "./guardrail.ts";
import { guardedAnswer } from "./hear.ts";
import { Denied, deniedError, GuardSession } from "./session.ts";

/** The work of the guardrails that apply to a request; undefined if none does. */
export function guardrailsRun(guards: Guards, all: readonly Guardrail[], turn: ChatTurn): StageRun | undefined {
  const request = { caller: turn.caller, model: turn.model.id };
  const own = all.filter((guardrail) => guardrail.applies(request));
  return own.length === 0 ? undefined : new GuardrailsRun(guards, own);
}

class GuardrailsRun implements StageRun {
  readonly #guards: Guards;
  readonly #session: GuardSession;
  readonly #changes = new WeakMap<ChatTurn, Change>();

  constructor(guards: Guards, guardrails: readonly Guardrail[]) {
    this.#guards = guards;
    this.#session = new GuardSession(guardrails);
  }

  prepare(turn: ChatTurn): Change | undefined {
    const change = this.#masked(turn);
    // A conversation that may be shortened is stored by the stage that does it, with its values: it is masked as it is sent.
    if (turn.isShortenable !== true) return change;
    return this.#session.hears ? { why: "guardrails", isHeard: true } : undefined;
  }

  /** A further round has results of tools, which have not been looked through. */
  round(turn: ChatTurn): Change | undefined {
    return turn.isShortenable === true ? undefined : this.#masked(turn);
  }

  adapt(turn: ChatTurn): Change | undefined {
    return turn.isShortenable === true ? this.#masked(turn) : undefined;
  }

  /** Undefined until it is known whether the answer is looked through. */
  get hears(): ((turn: ChatTurn) => Hearing) | undefined {
    if (!this.#session.hears) return undefined;
    return (turn) => {
      const { origin, chat } = turn;
      return guardedAnswer(this.#session, {
        stopsAtDenial: chat.stream && (chat.n ?? 1) === 1,
        ended: () => this.#tell(turn),
        // The gateway itself cannot use a part of an answer.
        refused: origin === "inner" ? (denied: Denied) => this.#refused(turn, denied) : undefined,
      });
    };
  }

  settle(): void {
    this.#count();
  }

  /** Counts what was not counted yet, at once: a request that no route answers is never settled. */
  #count(): void {
    for (const { guardrail, action, count } of this.#session.takeCounts()) this.#guards.count(guardrail, action, count);
  }

  #masked(turn: ChatTurn): Change | undefined {
    const known = this.#changes.get(turn);
    if (known !== undefined) return known;
    try {
      const change = this.#change(turn);
      if (change !== undefined) this.#changes.set(turn, change);
      this.#tell(turn);
      return change;
    } catch (error) {
      throw error instanceof Denied ? this.#refused(turn, error) : error;
    }
  }

  #refused(turn: ChatTurn, denied: Denied): Error {
    this.#tell(turn, true);
    if (denied.cause !== undefined) {
      this.#guards.warn("a guardrail failed", { guardrail: denied.guardrail, error: denied.cause });
    }
    return deniedError(denied);
  }

  #change(turn: ChatTurn): Change | undefined {
    const session = this.#session;
    const { chat, content } = turn;
    const sent = turn.members === undefined ? undefined : { ...content, ...turn.members };
    const masked = session.input(sent ?? content);
    const own = session.input(content);
    const change: Change = {
      why: "guardrails",
      chat: session.input(chat),
      content: own,
      members: sent === undefined ? undefined : { ...turn.members, ...changedMembers(sent, masked) },
      ...(session.hears ? { isHeard: true } : {}),
      ...(session.leftOut.length === 0 ? {} : { dropped: session.leftOut }),
    };
    const isSame = change.chat === chat && own === content && masked === (sent ?? content);
    return isSame && change.isHeard === undefined ? undefined : change;
  }

  /** The header of a stream was sent before its answer was known. */
  #tell({ exchange, chat }: ChatTurn, hasHeader = !chat.stream): void {
    this.#count();
    const report = this.#session.report();
    if (report === undefined) return;
    exchange.log["guardrails"] = report;
    if (this.#session.unread > 0) exchange.log["guardrails_unread"] = this.#session.unread;
    if (hasHeader) exchange.headers["x-sallyport-guardrails"] = report;
  }
}

function changedMembers(before: BodyMembers, after: BodyMembers): BodyMembers {
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => before[name] !== value));
}
