// The steps of compaction, applied in order to a conversation that is too long for its model. A conversation below the limit is
// sent unchanged; when it comes close to the limit, a compaction is prepared for later requests. Each step is only taken if the
// earlier ones do not suffice, and if a step fails, the next one is tried.

import type { Flights } from "../../../base/flights.ts";
import { uuid } from "../../../base/ids.ts";
import type { Element, EntryFormat } from "../../../chat/entries.ts";
import { sizedList, unchangedTokens, withCuts } from "./cuts.ts";
import { madeOnce } from "./made-once.ts";
import type { MeasuredElement, TokenMemory } from "./measure.ts";
import { type Compaction, type CompactionMemory, type ConversationName, keyOf } from "./memory.ts";
import { type ConversationRecord, parseConversationRecord, recordText } from "./record.ts";
import { firstUserAt } from "./shape.ts";
import type { Space } from "./space.ts";
import { tailStart } from "./split.ts";
import { latestOf, type RecordInput, recordWithout, type SummaryWork, summarise } from "./summarise.ts";

/** The action, as reported in the response header. */
export type CompactionAction = "cleared" | "reused" | "compacted" | "truncated";

/** A conversation in a request. */
export interface Conversation {
  accountId: string;
  /** The client's name for the conversation. If it is present, the conversation's compactions are stored. */
  threadId: string | undefined;
  keeps?: ConversationName["keeps"];
  /** When the request arrived, as a mark of the memory; by default the current mark. */
  since?: number | undefined;
  /** The model whose token counts apply. */
  model: string;
  list: readonly Element[];
  format: EntryFormat;
  /** The text of the instructions and tools. */
  fixed: string;
  space: Space;
  keepLast: number;
  work: SummaryWork;
  /** The client requests a record: clearing results is not enough, and a record that saves little is not made. */
  demanded?: boolean;
}

/** A shortened conversation. */
export interface Shortened {
  list: Element[];
  action: CompactionAction;
  /** Tokens of the whole request before and after shortening, corrected by what the model's providers report. */
  before: number;
  after: number;
  /** Tokens after shortening as counted by the gateway, without that correction. */
  counted: number;
  /** Ids of the tool calls whose reasoning was removed. */
  strippedCalls: ReadonlySet<string>;
  /** The text that replaces what was left out. */
  record: string | undefined;
  /** Number of messages left out. */
  upTo: number;
}

export interface CompactorDeps {
  tokens: TokenMemory;
  memory: CompactionMemory;
  /** Lets one node compact a stored conversation. */
  flights: Flights;
  nowMs(): number;
  /** Called when a summary could not be obtained. */
  failed(error: unknown, threadId: string | undefined): void;
}

/** A conversation with its token counts. */
interface Measure {
  name: ConversationName;
  list: readonly MeasuredElement[];
  /** Tokens of instructions and tools. */
  fixed: number;
  /** Tokens of the whole request, corrected by what the model's providers report. */
  total: number;
}

/** Shortens conversations. */
export class Compactor {
  readonly #deps: CompactorDeps;
  /** Compactions in progress, by conversation. */
  readonly #flights = new Map<string, Promise<void>>();

  constructor(deps: CompactorDeps) {
    this.#deps = deps;
  }

  /** The conversation to send; undefined if it can be sent unchanged. */
  async shorten(conversation: Conversation): Promise<Shortened | undefined> {
    const { space } = conversation;
    const measure = await this.#measure(conversation);
    if (measure.total <= space.limit) {
      // A conversation that was sent shortened stays so: its size may be estimated lower than before, but another beginning would
      // cost the upstream's cache and the reasoning that is bound to it.
      const isNear = conversation.demanded !== true && measure.total > space.limit * NEAR_SHARE;
      if (isNear && (await this.#deps.memory.isUsed(measure.name, measure.list))) {
        return this.#reuse(conversation, measure);
      }
      if (measure.total > space.soon) await this.#ahead(conversation, measure);
      return undefined;
    }
    const known = await this.#reuse(conversation, measure);
    if (known !== undefined) return known;
    if (conversation.demanded === true && measure.total <= space.most) {
      const isWorthIt = await this.#isWorthIt(conversation, measure);
      if (!isWorthIt) return this.#reuse(conversation, measure, { anyway: true });
    }
    // A compaction that is already in progress may suffice.
    const flight = this.#flights.get(keyOf(measure.name));
    if (flight !== undefined) {
      await flight;
      const made = await this.#reuse(conversation, measure);
      if (made !== undefined) return { ...made, action: made.action === "reused" ? "compacted" : made.action };
    }
    const made = await this.#start(conversation, measure);
    return this.#apply(conversation, measure, made);
  }

  /**
   * Compacts everything before the last messages, whatever the conversation's length. Undefined if there is nothing before them.
   */
  async compactAll(conversation: Conversation): Promise<Shortened | undefined> {
    const measure = await this.#measure(conversation);
    const tail = tailStart(measure.list, { keepLast: conversation.keepLast, tokens: 0 });
    const first = firstUserAt(measure.list);
    const summarisable = measure.list.slice(0, tail).filter(({ entry }, at) => entry.role !== "system" && at !== first);
    if (summarisable.length === 0) return undefined;
    const before = await this.#deps.memory.match(measure.name, measure.list);
    if (before?.record !== undefined && before.upTo >= tail) {
      return this.#apply(conversation, measure, { compaction: before, action: "reused" });
    }
    return this.#apply(conversation, measure, await this.#summarised(conversation, measure, { before, tail }));
  }

  /** Makes a record of the whole conversation. */
  async record(conversation: Conversation): Promise<MadeRecord> {
    const { tokens, memory } = this.#deps;
    const { list, name, total } = await this.#measure(conversation);
    const known = await memory.match(name, list);
    const previous = known?.record === undefined ? undefined : parseConversationRecord(known.record);
    const input = { middle: list.slice(known?.upTo ?? 0), previous };
    const { space, work } = conversation;
    const made = await this.#summary(conversation, input);
    const record = made ?? (await latestOf(input, (space.record / 2) * CHARS_PER_TOKEN, work.signal));
    const text = recordText(record, space.window * NAMES_CHARS_PER_TOKEN);
    return { text, tokens: await tokens.count(text), before: total, truncated: made === undefined };
  }

  /** The record with a summary; undefined if none could be obtained. Throws if nobody waits for it any longer. */
  async #summary({ work, threadId }: Conversation, input: RecordInput): Promise<ConversationRecord | undefined> {
    try {
      return await summarise(this.#deps.tokens, work, input);
    } catch (error) {
      work.signal?.throwIfAborted();
      this.#deps.failed(error, threadId);
      return undefined;
    }
  }

  /** Tokens of a conversation as counted by the gateway, without correction. */
  async counted({ list, format, fixed }: Conversation): Promise<number> {
    const { tokens } = this.#deps;
    const measured = await tokens.measure(list, format);
    return measured.reduce((sum, one) => sum + one.tokens, await tokens.count(fixed));
  }

  /** Resolves when no compaction is in progress. */
  async idle(): Promise<void> {
    while (this.#flights.size > 0) await Promise.all(this.#flights.values());
  }

  async #measure(conversation: Conversation): Promise<Measure> {
    const { tokens, memory } = this.#deps;
    const { accountId, threadId, keeps, since = memory.mark(), model, list, format, fixed } = conversation;
    const measured = await tokens.measure(list, format);
    const fixedTokens = await tokens.count(fixed);
    const counted = measured.reduce((sum, one) => sum + one.tokens, fixedTokens);
    const first = firstUserAt(measured) ?? 0;
    const name = { accountId, threadId, keeps, since, opening: measured[first]?.prefix ?? "" };
    return { name, list: measured, fixed: fixedTokens, total: tokens.own({ accountId, model }, counted) };
  }

  /** Applies an earlier compaction if it makes the conversation short enough; with `anyway`, even if it does not. */
  async #reuse(conversation: Conversation, measure: Measure, { anyway = false } = {}): Promise<Shortened | undefined> {
    const compaction = await this.#deps.memory.match(measure.name, measure.list);
    if (compaction === undefined || (conversation.demanded === true && compaction.record === undefined))
      return undefined;
    const action = compaction.record === undefined ? "cleared" : compaction.truncated ? "truncated" : "reused";
    const applied = await this.#apply(conversation, measure, { compaction, action });
    if (applied.after > conversation.space.limit) return anyway ? applied : undefined;
    if (applied.after > conversation.space.soon) await this.#ahead(conversation, measure);
    return applied;
  }

  /** Starts a compaction in the background of the request, unless one is in progress or an earlier one is still good enough. */
  async #ahead(conversation: Conversation, measure: Measure): Promise<void> {
    const key = keyOf(measure.name);
    if (this.#flights.has(key)) return;
    const before = await this.#deps.memory.match(measure.name, measure.list);
    // An earlier compaction is good enough while the conversation shortened by it stays below the size at which the next one
    // starts.
    if (before !== undefined && !before.truncated) {
      const applied = await this.#apply(conversation, measure, { compaction: before, action: "reused", dry: true });
      if (applied.after <= conversation.space.soon) return;
    }
    // `#start` reports the failure; the next request starts another compaction.
    if (!this.#flights.has(key)) void this.#start(conversation, measure).catch(() => undefined);
  }

  /** Starts a compaction and registers it at once, so that no second one starts for the same conversation. */
  #start(conversation: Conversation, measure: Measure): Promise<Made> {
    const key = keyOf(measure.name);
    const tokens = tailTokens(measure, conversation.space);
    const tail = tailStart(measure.list, { keepLast: conversation.keepLast, tokens });
    const making = madeOnce<Made>(this.#deps, measure, {
      make: (before) => this.#make(conversation, measure, { before, tail }),
      use: (compaction) => ({ compaction, action: compaction.record === undefined ? "cleared" : "compacted" }),
    });
    const flight = making.then(
      () => undefined,
      (error) => this.#deps.failed(error, conversation.threadId),
    );
    this.#flights.set(key, flight);
    void flight.finally(() => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    });
    return making;
  }

  /** Clears results if that suffices; otherwise summarises; if that fails, drops messages. */
  async #make(conversation: Conversation, measure: Measure, { before, tail }: Start): Promise<Made> {
    const { space } = conversation;
    const from = before?.upTo ?? 0;
    if (conversation.demanded !== true && (before === undefined || before.clearedTo < tail)) {
      const given = { ...before, upTo: from, clearedTo: Math.max(tail, from) };
      const clearing = await withCuts(this.#deps.tokens, conversation, {
        ...measure,
        given: this.#compaction(measure, given),
      });
      const sized = await sizedList(this.#deps.tokens, conversation, { ...measure, cut: clearing });
      if (sized.after <= space.aim) return this.#kept(measure, { compaction: clearing, action: "cleared" });
    }
    return this.#summarised(conversation, measure, { before, tail });
  }

  /** Whether a record would replace enough text to be worth a model call. */
  async #isWorthIt({ keepLast, space }: Conversation, measure: Measure): Promise<boolean> {
    const { list, name } = measure;
    const from = (await this.#deps.memory.match(name, list))?.upTo ?? 0;
    const tail = tailStart(list, { keepLast, tokens: tailTokens(measure, space) });
    const first = firstUserAt(list);
    const goes = list
      .slice(from, tail)
      .reduce((sum, { entry, tokens }, at) => (entry.role === "system" || from + at === first ? sum : sum + tokens), 0);
    return goes >= space.limit * WORTH_SHARE;
  }

  async #summarised(conversation: Conversation, measure: Measure, { before, tail }: Start): Promise<Made> {
    const { tokens } = this.#deps;
    const previous = before?.record === undefined ? undefined : parseConversationRecord(before.record);
    const from = before?.upTo ?? 0;
    const first = firstUserAt(measure.list);
    const middle = measure.list.slice(from, Math.max(from, tail)).filter((_, at) => from + at !== first);
    const cut = { upTo: Math.max(from, tail), clearedTo: Math.max(from, tail) };
    const { space, work } = conversation;
    const input = { middle, previous };
    const made = middle.length === 0 ? previous : await this.#summary(conversation, input);
    const truncated = made === undefined;
    const wishes = (space.record / 4) * CHARS_PER_TOKEN;
    const record = made ?? (await recordWithout(input, wishes, work.signal));
    const text = recordText(record, space.window * NAMES_CHARS_PER_TOKEN);
    const compaction = this.#compaction(measure, { ...cut, record: text, truncated, tokens: await tokens.count(text) });
    const fitted = await withCuts(tokens, conversation, { ...measure, given: compaction });
    return this.#kept(measure, { compaction: fitted, action: truncated ? "truncated" : "compacted" });
  }

  async #kept(measure: Measure, made: Made): Promise<Made> {
    await this.#deps.memory.keep(measure.name, made.compaction);
    return made;
  }

  #compaction(measure: Measure, given: Partial<Compaction> & { upTo: number; clearedTo: number }): Compaction {
    const end = Math.max(given.upTo, given.clearedTo);
    return {
      record: undefined,
      tokens: 0,
      truncated: false,
      ...given,
      firstUserChars: undefined,
      clip: undefined,
      id: uuid(),
      prefix: measure.list[end - 1]?.prefix ?? "0",
      strippedTo: undefined,
      createdAtMs: this.#deps.nowMs(),
    };
  }

  /** Shortens the conversation by a compaction. The first use of a compaction is recorded. `dry`: the result is only measured. */
  async #apply(
    conversation: Conversation,
    measure: Measure,
    { compaction, action, dry = false }: Made & { dry?: boolean },
  ): Promise<Shortened> {
    if (compaction.strippedTo === undefined && !dry) {
      compaction.strippedTo = measure.list.length;
      await this.#deps.memory.keep(measure.name, compaction);
    }
    const { record, upTo } = compaction;
    const { list, strippedCalls, after, counted } = await sizedList(this.#deps.tokens, conversation, {
      ...measure,
      cut: compaction,
    });
    return { list, strippedCalls, action, before: measure.total, after, counted, record, upTo };
  }
}

/** A shorter conversation cannot have been above the limit before. */
const NEAR_SHARE = 0.2;
/** A requested record is only made if it replaces at least this share of the token limit. */
const WORTH_SHARE = 0.2;

/** The names in a record may take a twentieth of the window, at three characters per token. */
const NAMES_CHARS_PER_TOKEN = 3 / 20;
/** Characters per token of what a record quotes; fewer than most texts have. */
const CHARS_PER_TOKEN = 3;

/** Tokens that are available for the tail beside the unchanged messages and the record. */
function tailTokens(measure: Measure, { tail, aim, record }: Space): number {
  return Math.max(0, Math.min(tail, aim - record - unchangedTokens(measure)));
}

/** The compaction to continue from, and the index where the kept tail begins. */
interface Start {
  before: Compaction | undefined;
  tail: number;
}

/** A record of a whole conversation. */
export interface MadeRecord {
  text: string;
  tokens: number;
  /** Tokens of the conversation. */
  before: number;
  /** It has no summary, since none could be obtained. */
  truncated: boolean;
}

/** A compaction and the action that it took. */
interface Made {
  compaction: Compaction;
  action: CompactionAction;
}
