// The ladder: what is done, in turn, to a conversation that has grown too long for its model. Below the limit nothing is.
// Each rung is taken only when those before do not suffice, and a rung that fails gives way to the next one.

import { uuid } from "../../base/ids.ts";
import type { Element, EntryFormat } from "../../chat/entries.ts";
import type { MeasuredElement, TokenMemory } from "./measure.ts";
import { type Compaction, type CompactionMemory, type ConversationName, endOf, keyOf } from "./memory.ts";
import { type ConversationRecord, parseConversationRecord, recordText } from "./record.ts";
import { cutMiddle, firstUserAt, type ShortenedList, shapeList, wordsOf } from "./shape.ts";
import type { Space } from "./space.ts";
import { tailStart } from "./split.ts";
import { latestOf, recordWithout, type SummaryWork, summarise } from "./summarise.ts";

/** What was done, as the response header says it. */
export type CompactionAction = "cleared" | "reused" | "compacted" | "truncated";

/** A conversation as a request brings it. */
export interface Conversation {
  accountId: string;
  /** Where the client names it: its compactions are stored. */
  threadId: string | undefined;
  keeps?: ConversationName["keeps"];
  /** When the request came, as the memory counts; now, where it is left out. */
  since?: number | undefined;
  /** The model whose counts are meant. */
  model: string;
  list: readonly Element[];
  format: EntryFormat;
  /** Instructions and tools. */
  fixed: string;
  space: Space;
  keepLast: number;
  work: SummaryWork;
  /** The client wants a record: clearing results is not enough, and little is not worth one. */
  demanded?: boolean;
}

/** A conversation in its short form. */
export interface Shortened {
  list: Element[];
  action: CompactionAction;
  /** Tokens of the whole request. */
  before: number;
  after: number;
  /** The same as counted here, before it is corrected by how the model counts. */
  counted: number;
  /** Calls that lost the reasoning behind them. */
  strippedCalls: ReadonlySet<string>;
  /** The text that stands for what was left out. */
  record: string | undefined;
  /** Messages left out. */
  upTo: number;
}

export interface CompactorDeps {
  tokens: TokenMemory;
  memory: CompactionMemory;
  nowMs(): number;
  /** A summary could not be obtained. */
  failed(error: unknown, threadId: string | undefined): void;
}

/** A conversation that was measured. */
interface Measure {
  name: ConversationName;
  list: readonly MeasuredElement[];
  /** Tokens of instructions and tools. */
  fixed: number;
  /** Tokens of it all, as the model counts. */
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

  /** The conversation as it may go up; undefined when it may go as it is. */
  async shorten(conversation: Conversation): Promise<Shortened | undefined> {
    const { space } = conversation;
    const measure = await this.#measure(conversation);
    if (measure.total <= space.limit) {
      if (measure.total > space.soon) await this.#ahead(conversation, measure);
      return undefined;
    }
    const known = await this.#reuse(conversation, measure);
    if (known !== undefined) return known;
    if (conversation.demanded === true && measure.total <= space.most) {
      const isWorthIt = await this.#isWorthIt(conversation, measure);
      if (!isWorthIt) return this.#reuse(conversation, measure, { anyway: true });
    }
    // One that was begun earlier may be all that is needed.
    const flight = this.#flights.get(keyOf(measure.name));
    if (flight !== undefined) {
      await flight;
      const made = await this.#reuse(conversation, measure);
      if (made !== undefined) return { ...made, action: made.action === "reused" ? "compacted" : made.action };
    }
    const made = await this.#start(conversation, measure);
    return this.#apply(conversation, measure, made);
  }

  /** Compacts everything before the last messages, whatever its length. Undefined when there is nothing before them. */
  async compactAll(conversation: Conversation): Promise<Shortened | undefined> {
    const measure = await this.#measure(conversation);
    const tail = tailStart(measure.list, { keepLast: conversation.keepLast, tokens: 0 });
    const first = firstUserAt(measure.list);
    const said = measure.list.slice(0, tail).filter(({ entry }, at) => entry.role !== "system" && at !== first);
    if (said.length === 0) return undefined;
    const before = await this.#deps.memory.match(measure.name, measure.list);
    if (before?.record !== undefined && before.upTo >= tail) {
      return this.#apply(conversation, measure, { compaction: before, action: "reused" });
    }
    return this.#apply(conversation, measure, await this.#summarised(conversation, measure, { before, tail }));
  }

  /** A record of all that was said, to stand for the whole of it. */
  async record(conversation: Conversation): Promise<{ text: string; tokens: number; before: number }> {
    const { tokens, memory, failed } = this.#deps;
    const { list, name, total } = await this.#measure(conversation);
    const known = await memory.match(name, list);
    const previous = known?.record === undefined ? undefined : parseConversationRecord(known.record);
    const middle = list.slice(known?.upTo ?? 0);
    let record: ConversationRecord | undefined;
    try {
      record = await summarise(tokens, conversation.work, { middle, previous });
    } catch (error) {
      failed(error, conversation.threadId);
    }
    record ??= latestOf(middle, previous, conversation.space);
    const text = recordText(record, conversation.space.window * NAMES_CHARS_PER_TOKEN);
    return { text, tokens: await tokens.count(text), before: total };
  }

  /** Tokens of a conversation as counted here, before any correction. */
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
    return { name, list: measured, fixed: fixedTokens, total: tokens.own(model, counted) };
  }

  /** What was done before, where it still suffices, or `anyway`. */
  async #reuse(conversation: Conversation, measure: Measure, { anyway = false } = {}): Promise<Shortened | undefined> {
    const compaction = await this.#deps.memory.match(measure.name, measure.list);
    if (compaction === undefined || (conversation.demanded === true && compaction.record === undefined))
      return undefined;
    const action = compaction.record === undefined ? "cleared" : compaction.truncated ? "truncated" : "reused";
    const done = await this.#apply(conversation, measure, { compaction, action });
    if (done.after > conversation.space.limit) return anyway ? done : undefined;
    if (done.after > conversation.space.soon) await this.#ahead(conversation, measure);
    return done;
  }

  /** Begins a compaction beside the request, unless one is in progress or made. */
  async #ahead(conversation: Conversation, measure: Measure): Promise<void> {
    const key = keyOf(measure.name);
    if (this.#flights.has(key)) return;
    const before = await this.#deps.memory.match(measure.name, measure.list);
    // What was made and is not needed yet: as long as little came after it, there is nothing new to say.
    if (before !== undefined && !before.truncated) {
      const done = await this.#apply(conversation, measure, { compaction: before, action: "reused", dry: true });
      if (done.after <= conversation.space.soon) return;
    }
    // A failure is reported where the compaction ends; the next request begins another.
    if (!this.#flights.has(key)) void this.#start(conversation, measure).catch(() => undefined);
  }

  /** A compaction in progress: it is known from this moment on, so that no second one begins. */
  #start(conversation: Conversation, measure: Measure): Promise<Made> {
    const key = keyOf(measure.name);
    const making = this.#deps.memory.match(measure.name, measure.list).then((before) => {
      const tail = tailStart(measure.list, {
        keepLast: conversation.keepLast,
        tokens: tailTokens(measure, conversation.space),
      });
      return this.#make(conversation, measure, { before, tail });
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

  /** Clears results where that is enough, else summarises, else leaves out. */
  async #make(conversation: Conversation, measure: Measure, { before, tail }: Start): Promise<Made> {
    const { space } = conversation;
    const from = before?.upTo ?? 0;
    const clearing = this.#compaction(measure, { ...before, upTo: from, clearedTo: Math.max(tail, from) });
    if (conversation.demanded !== true && (before === undefined || before.clearedTo < tail)) {
      const done = await this.#apply(conversation, measure, { compaction: clearing, action: "cleared", dry: true });
      if (done.after <= space.aim) return this.#kept(measure, { compaction: clearing, action: "cleared" });
    }
    return this.#summarised(conversation, measure, { before, tail });
  }

  /** Whether a record would stand for so much that it saves something. */
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
    const { tokens, failed } = this.#deps;
    const previous = before?.record === undefined ? undefined : parseConversationRecord(before.record);
    const from = before?.upTo ?? 0;
    const first = firstUserAt(measure.list);
    const middle = measure.list.slice(from, Math.max(from, tail)).filter((_, at) => from + at !== first);
    const cut = { upTo: Math.max(from, tail), clearedTo: Math.max(from, tail) };
    let record: ConversationRecord | undefined;
    try {
      record = middle.length === 0 ? previous : await summarise(tokens, conversation.work, { middle, previous });
    } catch (error) {
      failed(error, conversation.threadId);
    }
    const truncated = record === undefined;
    const namesMax = conversation.space.window * NAMES_CHARS_PER_TOKEN;
    const text = recordText(record ?? recordWithout(middle, previous), namesMax);
    const compaction = this.#compaction(measure, { ...cut, record: text, truncated, tokens: await tokens.count(text) });
    return this.#kept(measure, { compaction, action: truncated ? "truncated" : "compacted" });
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
      id: uuid(),
      prefix: measure.list[end - 1]?.prefix ?? "0",
      strippedTo: undefined,
      createdAtMs: this.#deps.nowMs(),
    };
  }

  /** The short form; kept with it from the first use on is what had been written before. `dry`: it is only measured. */
  async #apply(
    conversation: Conversation,
    measure: Measure,
    { compaction, action, dry = false }: Made & { dry?: boolean },
  ): Promise<Shortened> {
    if (compaction.strippedTo === undefined && !dry) {
      compaction.strippedTo = measure.list.length;
      await this.#deps.memory.keep(measure.name, compaction);
    }
    const { upTo, clearedTo, record } = compaction;
    const cut = { upTo, clearedTo, strippedTo: compaction.strippedTo ?? measure.list.length };
    const shape = (firstUser?: string) => shapeList(measure.list, conversation.format, { cut, record, firstUser });
    const whole = shape();
    const done = await this.#sized(conversation, measure, whole);
    const fitted = await this.#fit(conversation, measure, { shape, done, end: endOf(compaction) });
    const { list, strippedCalls } = fitted.shape;
    const { after, counted } = fitted;
    return { list, strippedCalls, action, before: measure.total, after, counted, record, upTo };
  }

  async #sized({ model, format }: Conversation, { fixed }: Measure, shape: ShortenedList): Promise<Sized> {
    const { tokens } = this.#deps;
    const measured = await tokens.measure(shape.list, format);
    const counted = measured.reduce((sum, one) => sum + one.tokens, fixed);
    return { shape, counted, after: tokens.own(model, counted) };
  }

  /** Cuts the first user's message where what stays word for word would take more than half the window. */
  async #fit(
    conversation: Conversation,
    measure: Measure,
    given: { shape(firstUser?: string): ShortenedList; done: Sized; end: number },
  ): Promise<Sized> {
    const { space, model } = conversation;
    let { done } = given;
    const first = firstUserAt(measure.list);
    const own = first === undefined ? 0 : this.#deps.tokens.own(model, measure.list[first]!.tokens);
    const most = Math.max(FIRST_USER_LEAST, own - (done.after - space.whole));
    if (first !== undefined && first < given.end && done.after > space.whole && own > most) {
      const words = wordsOf(measure.list[first]!);
      const cut = given.shape(cutMiddle(words, Math.floor((words.length * most) / own)));
      done = await this.#sized(conversation, measure, cut);
    }
    return done.after <= space.most ? done : this.#clip(conversation, measure, done);
  }

  /** Cuts long results in the tail, the longest first: the last that can be done. */
  async #clip(conversation: Conversation, measure: Measure, given: Sized): Promise<Sized> {
    const { space, format } = conversation;
    let done = given;
    for (let chars = RESULT_CHARS_FIRST; chars >= RESULT_CHARS_LAST && done.after > space.most; chars /= 4) {
      const list = done.shape.list.map((element) =>
        format.withResults(element, ({ text }) => (text.length > chars ? cutMiddle(text, chars) : undefined)),
      );
      done = await this.#sized(conversation, measure, { ...done.shape, list });
    }
    return done;
  }
}

/** Below this share of what is allowed a demanded record is not worth its call. */
const WORTH_SHARE = 0.2;

/** A twentieth of the window for names, three characters to a token. */
const NAMES_CHARS_PER_TOKEN = 3 / 20;

/** What is left for the tail beside all that stays word for word, and the record. */
function tailTokens({ list, fixed }: Measure, { tail, aim, record }: Space): number {
  const first = firstUserAt(list);
  const stays = list.reduce(
    (sum, { entry, tokens }, at) => (entry.role === "system" || at === first ? sum + tokens : sum),
    fixed,
  );
  return Math.max(0, Math.min(tail, aim - record - stays));
}

/** A short form and what it takes. */
interface Sized {
  shape: ShortenedList;
  /** Tokens as counted here, and as the model counts. */
  counted: number;
  after: number;
}

/** What a compaction continues from, and where it ends. */
interface Start {
  before: Compaction | undefined;
  tail: number;
}

/** A compaction and what it is. */
interface Made {
  compaction: Compaction;
  action: CompactionAction;
}

/** Of a first message so many tokens stay at least. */
const FIRST_USER_LEAST = 200;
/** Results of the tail are cut to so many characters, then to a quarter of that, and so on. */
const RESULT_CHARS_FIRST = 64_000;
const RESULT_CHARS_LAST = 200;
