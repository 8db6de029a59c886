// `context_management` for clients whose provider does not support it. Old results and reasoning are cleared, and a conversation
// above the client's threshold is compacted, with the record in the answer. The record is sealed together with the messages that
// were kept, so that the client may drop everything before it.

import { prefixedId } from "../../../base/ids.ts";
import type { CompactEdit, EditedContext } from "../../../chat/context-edits.ts";
import type { Element, EntryFormat } from "../../../chat/entries.ts";
import type { Usage } from "../../../chat/event.ts";
import { type Clearing, clear, countOf } from "./clear.ts";
import type { CompactableTurn } from "./compactable-turn.ts";
import type { Compactor, Conversation, Shortened } from "./compactor.ts";
import { sealList } from "./items.ts";
import type { MeasuredElement, TokenMemory } from "./measure.ts";
import { recordOf } from "./record.ts";
import type { Sealer } from "./seal.ts";
import {
  doesNotFit,
  isSurelyBelow,
  note,
  senderOf,
  withCountedUsage,
  withList,
  withoutMember,
} from "./shortened-request.ts";
import { type Space, spaceAbove, spaceOf } from "./space.ts";

export interface ContextEditingDeps {
  compactor: Compactor;
  tokens: TokenMemory;
  sealer: Sealer;
  /** The token limits of the request's model; undefined if its window is unknown. */
  spaceOf(admitted: CompactableTurn): Space | undefined;
  /** The conversation of a request; undefined if its format has no list of messages. */
  conversationOf(admitted: CompactableTurn, space: Space): Conversation | undefined;
}

/** The limits for requests without compaction. */
const ANY_SPACE: Space = { ...spaceOf(1, 1), limit: Number.POSITIVE_INFINITY, most: Number.POSITIVE_INFINITY };

/** A client is only paused again when the text outside of records has at least this share of the limit. */
const NEW_SHARE = 0.5;

/** A request after its tokens were counted and its edits applied. */
interface Measure {
  admitted: CompactableTurn;
  format: EntryFormat;
  conversation: Conversation;
  clearing: Clearing;
  list: readonly MeasuredElement[];
  cleared: Awaited<ReturnType<typeof clear>>;
  /** Tokens before and after clearing, corrected by what the model's providers report. */
  before: number;
  after: number;
}

/** Applies the context edits that clients request. */
export class ContextEditing {
  readonly #deps: ContextEditingDeps;
  /** All routes of one request get the same result. */
  readonly #edited = new WeakMap<CompactableTurn, Promise<CompactableTurn>>();

  constructor(deps: ContextEditingDeps) {
    this.#deps = deps;
  }

  /** The request to send to a provider that does not support context edits. */
  apply(admitted: CompactableTurn): CompactableTurn | Promise<CompactableTurn> {
    const space = this.#space(admitted);
    if (this.#isShort(admitted, space)) return withoutWish(admitted, { done: NOTHING_DONE, isAfterOverflow: false });
    let edited = this.#edited.get(admitted);
    if (edited === undefined) {
      edited = this.#edit(admitted, space, false);
      this.#edited.set(admitted, edited);
    }
    return edited;
  }

  /** The request, shortened to `space` after a provider refused it as too long. */
  afterOverflow(admitted: CompactableTurn, space: Space): Promise<CompactableTurn> {
    return this.#edit(admitted, space, true);
  }

  /**
   * The request that makes the record for which the client wants to pause; undefined while the conversation is below the
   * threshold.
   */
  async pausing(admitted: CompactableTurn): Promise<CompactableTurn | undefined> {
    const compact = compactOf(admitted);
    const space = this.#space(admitted);
    if (compact?.pauses !== true || this.#isShort(admitted, space)) return undefined;
    const measure = await this.#measure(admitted, space);
    if (measure === undefined || measure.after <= space.limit) return undefined;
    // Without this check, a record and the messages that the client sends beside it would cause endless pauses.
    const tokens = countOf(measure.list.filter(({ entry }) => recordOf(entry) === undefined));
    if (this.#deps.tokens.own(senderOf(admitted), tokens) < space.limit * NEW_SHARE) return undefined;
    const { cleared } = measure.cleared;
    const edited = { original: admitted, isAfterOverflow: false, cleared, record: undefined, usage: undefined };
    return {
      ...withoutMember(admitted, measure.format.editing?.member ?? ""),
      asksRecord: { wish: compact.wish },
      compactable: { ...admitted.compactable, threadId: admitted.compactable?.threadId, edited },
    };
  }

  /** The token limits: those that the client requested, or those of the model's window. */
  #space(admitted: CompactableTurn): Space {
    const compact = compactOf(admitted);
    if (compact === undefined && admitted.compactable?.threadId === undefined) return ANY_SPACE;
    const base = this.#deps.spaceOf(admitted);
    return compact?.above === undefined ? (base ?? ANY_SPACE) : spaceAbove(compact.above, base);
  }

  /** Whether the length of the request alone shows that no edit applies. */
  #isShort(admitted: CompactableTurn, { limit }: Space): boolean {
    let least = limit;
    for (const edit of admitted.compactable?.edits ?? []) {
      if (edit.type === "compact") continue;
      if (edit.type === "clear-reasoning" || !("tokens" in edit.trigger)) return false;
      least = Math.min(least, edit.trigger.tokens);
    }
    return isSurelyBelow(admitted, least, this.#deps.tokens.ratio(senderOf(admitted)));
  }

  async #measure(admitted: CompactableTurn, space: Space): Promise<Measure | undefined> {
    const { tokens } = this.#deps;
    const conversation = this.#deps.conversationOf(admitted, space);
    if (conversation === undefined) return undefined;
    const { format } = conversation;
    const sender = senderOf(admitted);
    const list = await tokens.measure(conversation.list, format);
    const fixed = await tokens.count(conversation.fixed);
    const clearing = { edits: admitted.compactable?.edits ?? [], format, tokens, sender, fixed };
    const cleared = await clear(list, clearing);
    const before = tokens.own(sender, fixed + countOf(list));
    const after = tokens.own(sender, fixed + countOf(cleared.list));
    return { admitted, format, conversation, clearing, list, cleared, before, after };
  }

  async #edit(admitted: CompactableTurn, space: Space, isAfterOverflow: boolean): Promise<CompactableTurn> {
    const measure = await this.#measure(admitted, space);
    if (measure === undefined) return admitted;
    if (measure.after > space.limit) return this.#compact(measure, space, isAfterOverflow);
    return this.#clearedRequest(measure, { record: undefined, isAfterOverflow });
  }

  #clearedRequest(
    { admitted, cleared, clearing: { fixed }, before, after }: Measure,
    { record, isAfterOverflow }: { record: Element | undefined; isAfterOverflow: boolean },
  ): CompactableTurn {
    const editing = { cleared: cleared.cleared, record, usage: undefined };
    if (cleared.cleared.length === 0) return withoutWish(admitted, { done: editing, isAfterOverflow });
    note(admitted, { action: "cleared", before, after });
    const list = cleared.list.map(({ element }) => element);
    return edited(
      admitted,
      { list, counted: fixed + countOf(cleared.list), strippedCalls: new Set() },
      { done: editing, isAfterOverflow },
    );
  }

  /** Compacts the client's original messages, as these give a better record than cleared ones, and then clears the result. */
  async #compact(measure: Measure, space: Space, isAfterOverflow: boolean): Promise<CompactableTurn> {
    const { admitted, format, conversation, clearing } = measure;
    const compact = compactOf(admitted);
    const usage: Usage = { inputTokens: 0, outputTokens: 0 };
    conversation.demanded = compact !== undefined;
    conversation.work = { ...withCountedUsage(conversation.work, usage), wish: compact?.wish };
    const short = await this.#deps.compactor.shorten(conversation);
    // If the summary fails or saves nothing, a conversation that still fits is sent without compaction.
    const isOfUse = short !== undefined && short.action !== "truncated" && short.after < measure.after;
    const failed = short !== undefined && !isOfUse && measure.after <= space.most;
    if (short === undefined || failed) {
      const record = failed && compact !== undefined ? format.editing?.failedRecord : undefined;
      return this.#clearedRequest(measure, { record, isAfterOverflow });
    }
    if (short.after > space.most) throw doesNotFit(admitted, short, space);
    const { tokens } = this.#deps;
    const cleared = await clear(await tokens.measure(short.list, format), clearing);
    note(admitted, { ...short, after: short.after - tokens.own(senderOf(admitted), cleared.gone) });
    const editing = {
      cleared: cleared.cleared,
      record: compact === undefined ? undefined : this.#recordOf(admitted, format, short),
      usage: usage.inputTokens + usage.outputTokens === 0 ? undefined : usage,
    };
    const list = cleared.list.map(({ element }) => element);
    return edited(
      admitted,
      { ...short, list, counted: short.counted - cleared.gone },
      { done: editing, isAfterOverflow },
    );
  }

  #recordOf(admitted: CompactableTurn, format: EntryFormat, { list, record, action }: Shortened): Element | undefined {
    // The client keeps the messages that could not be summarised.
    if (record === undefined || action === "truncated") return format.editing?.failedRecord;
    const { sealer } = this.#deps;
    const { accountId } = admitted.caller;
    const sealed = sealList(list, { sealer, accountId, format: admitted.format.name });
    return format.record({ id: prefixedId("cmp_"), text: record, sealed });
  }
}

const NOTHING_DONE: EditedContext = { cleared: [], record: undefined, usage: undefined };

function compactOf(admitted: CompactableTurn): CompactEdit | undefined {
  return admitted.compactable?.edits?.find((edit) => edit.type === "compact");
}

/** The request with its list unchanged and without the member that requests edits, as these have been applied. */
function withoutWish(
  admitted: CompactableTurn,
  { done, isAfterOverflow }: { done: EditedContext; isAfterOverflow: boolean },
): CompactableTurn {
  const bare = withoutMember(admitted, admitted.format.entries?.editing?.member ?? "");
  const edited = { original: admitted, isAfterOverflow, ...done };
  return { ...bare, compactable: { ...admitted.compactable, threadId: admitted.compactable?.threadId, edited } };
}

function edited(
  admitted: CompactableTurn,
  short: Pick<Shortened, "list" | "strippedCalls" | "counted">,
  { done, isAfterOverflow }: { done: EditedContext; isAfterOverflow: boolean },
): CompactableTurn {
  const { edits } = admitted.compactable ?? {};
  const more = { ...(edits === undefined ? {} : { edits }), edited: { original: admitted, isAfterOverflow, ...done } };
  return withList(withoutMember(admitted, admitted.format.entries?.editing?.member ?? ""), short, {
    isAfterOverflow,
    ...more,
  });
}
