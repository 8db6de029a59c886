// The guardrails of one chat request.

import type { AtOnce } from "../../../base/at-once.ts";
import { clientGone } from "../../calls/request-deadline.ts";
import type { BodyMembers, Change, ChatTurn, Hearing, StageRun, Target } from "../../centre/stage.ts";
import type { Guards } from "./deps.ts";
import type { Guardrail } from "./guardrail.ts";
import { guardedAnswer } from "./hear.ts";
import { heldAnswer } from "./held.ts";
import { Denied, deniedError, GuardSession } from "./session.ts";
import type { GuardedRequest } from "./tools.ts";

/** The work of the guardrails that apply to a request; undefined if none does. */
export function guardrailsRun(guards: Guards, guardrails: readonly Guardrail[], turn: ChatTurn): StageRun | undefined {
  const { requestId, path: endpoint } = turn.exchange;
  const request = { caller: turn.caller, model: turn.model.id, requestId, endpoint, labels: turn.exchange };
  const isOwn = turn.origin === "inner";
  const own = guardrails.filter((one) => one.applies(request) && !(isOwn && one.judge?.readsAnswersOnly === true));
  return own.length === 0 ? undefined : new GuardrailsRun(guards, own, request);
}

/** Texts of more characters are looked through in steps, between which other requests go on. */
const LONG_CHARS = 64 * 1024;

class GuardrailsRun implements StageRun {
  readonly #guards: Guards;
  readonly #session: GuardSession;
  readonly #changes = new WeakMap<ChatTurn, Change>();
  #isHeard = false;

  constructor(guards: Guards, guardrails: readonly Guardrail[], request: GuardedRequest) {
    this.#guards = guards;
    this.#session = new GuardSession(guardrails, request);
  }

  prepare(turn: ChatTurn): AtOnce<Change | undefined> {
    // A conversation that may be shortened is stored by the stage that does it, with its values: it is masked as it is sent.
    if (turn.isShortenable !== true) return this.#masked(turn);
    return this.#mayHear(turn) ? { why: "guardrails", isHeard: true } : undefined;
  }

  /** A further round has results of tools, which have not been looked through. */
  async round(turn: ChatTurn): Promise<Change | undefined> {
    const change = turn.isShortenable === true ? undefined : await this.#masked(turn);
    if (this.#session.asksBeside) await this.#beside(turn.isShortenable === true ? turn : { ...turn, ...change });
    return change;
  }

  adapt(turn: ChatTurn, _target: Target, signal: AbortSignal): AtOnce<Change | undefined> {
    return turn.isShortenable === true ? this.#masked(turn, signal) : undefined;
  }

  gate(turn: ChatTurn, signal: AbortSignal): Promise<void> | undefined {
    return this.#session.asksBeside ? this.#beside(turn, signal) : undefined;
  }

  /** Undefined until it is known whether the answer is looked through. */
  get hears(): ((turn: ChatTurn) => Hearing) | undefined {
    const session = this.#session;
    if (!session.hears && !this.#isHeard) return undefined;
    return (turn) => {
      const { origin, chat, ownTools, reservation } = turn;
      session.paidBeside(reservation);
      const ended = () => this.#tell(turn);
      // The gateway itself cannot use a part of an answer.
      const refused = origin === "inner" ? (denied: Denied) => this.#refused(turn, denied) : undefined;
      if (session.holds) return heldAnswer(session, { ownTools, ended, refused });
      const stopsAtDenial = chat.stream && (chat.n ?? 1) === 1;
      return guardedAnswer(session, { stopsAtDenial, ownTools, ended, refused });
    };
  }

  /** Whether the answer is looked through, asked before it is known what is masked. */
  #mayHear(turn: ChatTurn): boolean {
    this.#isHeard ||= turn.isShortenable === true && this.#session.mayRestore;
    return this.#isHeard || this.#session.hears;
  }

  settle(): void {
    this.#count();
  }

  /** Counts what was not counted yet, at once: a request that no route answers is never settled. */
  #count(): void {
    for (const { guardrail, action, count } of this.#session.takeCounts()) this.#guards.count(guardrail, action, count);
  }

  #masked(turn: ChatTurn, signal?: AbortSignal): AtOnce<Change | undefined> {
    const known = this.#changes.get(turn);
    if (known !== undefined) return known;
    if (!this.#session.asksFirst && turn.text.length < LONG_CHARS) return this.#told(turn, () => this.#change(turn));
    return this.#learned(turn, signal).then(() => this.#told(turn, () => this.#change(turn)));
  }

  /** What all texts of a request become, looked up in steps and with those who are asked first. */
  async #learned(turn: ChatTurn, signal = turn.asker.leaving()): Promise<void> {
    const { chat, content } = turn;
    const values = turn.members === undefined ? [content, chat] : [{ ...content, ...turn.members }, content, chat];
    try {
      await this.#session.learn(values, saidIn(turn), signal);
    } catch (error) {
      if (turn.asker.leaving().aborted) throw clientGone();
      throw error instanceof Denied ? this.#refused(turn, error) : error;
    }
  }

  #told(turn: ChatTurn, work: () => Change | undefined): Change | undefined {
    try {
      const change = work();
      if (change !== undefined) this.#changes.set(turn, change);
      this.#tell(turn);
      return change;
    } catch (error) {
      throw error instanceof Denied ? this.#refused(turn, error) : error;
    }
  }

  async #beside(turn: ChatTurn, signal = turn.asker.leaving()): Promise<void> {
    this.#session.paidBeside(turn.reservation);
    if (turn.isShortenable === true) await this.#learned(turn, signal);
    try {
      // What was masked already is not masked again.
      const sent = saidIn(turn);
      await this.#session.beside(turn.isShortenable === true ? this.#session.input(sent) : sent, signal);
      this.#tell(turn, true);
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

/** What a request says, without its parameters. */
function saidIn({ chat: { messages, tools } }: ChatTurn): unknown {
  return { messages, tools };
}

function changedMembers(before: BodyMembers, after: BodyMembers): BodyMembers {
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => before[name] !== value));
}
