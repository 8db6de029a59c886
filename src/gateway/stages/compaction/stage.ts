// Compaction as a stage: makes a record that a client asks for, shortens a conversation that is too long, shortens it further when
// a provider refuses it, and after an answer learns token counts and stores the thread.

import { prefixedId } from "../../../base/ids.ts";
import type { ModelRoute } from "../../../catalog/models.ts";
import { isLossless } from "../../centre/build.ts";
import {
  type Change,
  type ChatTurn,
  type CompleteAnswer,
  type FailedCall,
  mayContain,
  type Stage,
  type StageAnswer,
  type StageRun,
  type Target,
} from "../../centre/stage.ts";
import type { Compactable, CompactableTurn } from "./compactable-turn.ts";
import type { ChatCompaction } from "./conversations.ts";
import { compactionMembers } from "./items.ts";

/** How the names of the members begin with which a client asks for a record, and for context edits. */
const ASKS_RECORD = '"compaction';
const ASKS_EDITS = '"context_management';

/** Creates the stage. */
export function createCompactionStage(compaction: ChatCompaction): Stage {
  return {
    name: "compaction",
    open(turn) {
      const { format, chat, keptConversation } = turn;
      if (format.entries === undefined) return undefined;
      const isNamed = chat.threadId !== undefined || keptConversation !== undefined;
      return isNamed || mayContain(turn, ASKS_RECORD) || mayContain(turn, ASKS_EDITS)
        ? new CompactionRun(compaction)
        : undefined;
    },
    failed: ({ model }, error) => compaction.learnWindow(model, error),
  };
}

class CompactionRun implements StageRun {
  readonly #compaction: ChatCompaction;
  #compactable: Compactable | undefined;
  /** The turn with the state of its conversation, by the turn that was given. */
  readonly #own = new WeakMap<ChatTurn, CompactableTurn>();
  /** What was sent on each route. */
  readonly #sent = new Map<ModelRoute, CompactableTurn>();
  /** The routes that refused a prompt as too long, for which it was shortened further. */
  readonly #overflowed = new Set<ModelRoute>();

  constructor(compaction: ChatCompaction) {
    this.#compaction = compaction;
  }

  get readsText(): boolean {
    return this.#compactable !== undefined;
  }

  async prepare(turn: ChatTurn): Promise<Change | StageAnswer | undefined> {
    const { body, format, routes } = turn;
    const compactable = this.#compactableOf(turn);
    this.#compactable = compactable;
    const asked = this.#compaction.asked(body, format, { routes, conversation: compactable });
    if (compactable === undefined && asked === undefined) return undefined;
    const change: Change = {
      why: "compaction",
      isShortenable: true,
      ...(asked?.routes === undefined ? {} : { routes: asked.routes }),
    };
    const { why: _why, dropped: _dropped, ...changes } = change;
    const own: CompactableTurn = { ...turn, ...changes, compactable };
    const pausing = await this.#compaction.pausing(own);
    const source = pausing ?? (asked?.asksRecord === undefined ? undefined : { ...own, asksRecord: asked.asksRecord });
    if (source === undefined) return change;
    return { why: "record", change, answer: (signal) => this.#record(source, signal) };
  }

  async adapt(turn: ChatTurn, { provider, route }: Target): Promise<Change | undefined> {
    const sent = this.#overflowed.has(route) ? this.#sent.get(route) : undefined;
    // A later round on this route sends the shorter conversation again, not the one that was refused.
    const short = sent === undefined ? await this.#shortened(turn, { provider, route }) : changeTo(sent);
    const { members } = short ?? turn;
    const isForeign = isLossless(turn, provider) && members !== undefined && provider.quirks.compaction === false;
    const withoutEffect = isForeign ? compactionMembers(turn.body, members, turn.format) : [];
    if (withoutEffect.length === 0) return short;
    const removed = Object.fromEntries(withoutEffect.map((name) => [name, undefined]));
    return { ...short, why: "compaction", members: { ...members, ...removed }, dropped: withoutEffect };
  }

  async again(_turn: ChatTurn, { error, route }: FailedCall): Promise<Change | undefined> {
    const sent = this.#sent.get(route);
    if (sent === undefined) return undefined;
    const shorter = await this.#compaction.afterOverflow(sent, error);
    if (shorter === undefined) return undefined;
    this.#overflowed.add(route);
    this.#sent.set(route, shorter);
    // `adapt` applies it.
    return { why: "overflow" };
  }

  complete({ target, fault, text, usage }: CompleteAnswer): undefined {
    const sent = target === undefined ? undefined : this.#sent.get(target.route);
    if (sent !== undefined && fault === undefined) this.#compaction.answered(sent, { text: text(), usage });
  }

  async #shortened(turn: ChatTurn, { provider, route }: Target): Promise<Change | undefined> {
    if (this.#compactable === undefined) return undefined;
    let own = this.#own.get(turn);
    if (own === undefined) {
      own = { ...turn, compactable: this.#compactable };
      this.#own.set(turn, own);
    }
    const short = await this.#compaction.shortenToFit(own, provider);
    this.#sent.set(route, short);
    return short === own ? undefined : changeTo(short);
  }

  /** The conversation that may be shortened: the client's thread, or one that the gateway keeps. */
  #compactableOf({ chat, format, body, caller, keptConversation, routes }: ChatTurn): Compactable | undefined {
    const named = keptConversation === undefined ? chat : { ...chat, threadId: keptConversation.id };
    const thread = this.#compaction.compactableOf(named, format);
    const edits = this.#compaction.editsOf(body, { format, routes });
    const found = edits === undefined ? thread : { threadId: thread?.threadId, since: thread?.since, edits };
    const keeps = keptConversation?.keeps ?? (caller.noStore ? "nothing" : undefined);
    return found === undefined || keeps === undefined ? found : { ...found, keeps };
  }

  async #record(source: CompactableTurn, signal: AbortSignal): ReturnType<StageAnswer["answer"]> {
    const { entries, name } = source.format;
    if (entries === undefined) throw new Error("The format has no list of messages.");
    const { text, sealed, usage } = await this.#compaction.record(source, signal);
    const value = entries.record({ id: prefixedId("cmp_"), text, sealed });
    const edited = source.compactable?.edited;
    // A record before an answer reports its cost beside the answer's own, which is still zero.
    const own = edited === undefined ? usage : { inputTokens: 0, outputTokens: 0 };
    return {
      events: [
        { type: "start" },
        { type: "opaque", choice: 0, origin: name, value },
        { type: "finish", choice: 0, reason: "compaction", rawReason: "compaction", usage: own },
      ],
      edited: edited === undefined ? undefined : { ...edited, usage },
    };
  }
}

/** What compaction changed of a turn. */
function changeTo({ chat, members, compactable, strippedCalls, reasoningRemoved }: CompactableTurn): Change {
  return {
    why: "compaction",
    chat,
    members,
    ...(compactable?.edited === undefined ? {} : { edited: compactable.edited }),
    ...(strippedCalls === undefined ? {} : { strippedCalls }),
    ...(reasoningRemoved === undefined ? {} : { reasoningRemoved }),
  };
}
