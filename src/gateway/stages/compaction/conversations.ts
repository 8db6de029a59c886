// Compaction in the pipeline of a chat request: decides which requests it applies to, shortens them, shortens them further when a
// provider refuses a prompt as too long, and after an answer learns token counts and stores the thread.

import { ApiError } from "../../../base/errors.ts";
import type { CatalogModel, ModelRoute } from "../../../catalog/models.ts";
import type { Element } from "../../../chat/entries.ts";
import type { Usage } from "../../../chat/event.ts";
import type { ChatRequest } from "../../../chat/request.ts";
import { contextCounts } from "../../../upstream/context-counts.ts";
import { UpstreamFault } from "../../../upstream/fault.ts";
import type { Provider } from "../../../upstream/provider.ts";
import { answerElements } from "../../../wire/assembled.ts";
import type { WireFormat } from "../../../wire/format.ts";
import type { ModelAnswer, Payer, Prompt } from "../../inner/ask.ts";
import type { KeptThreads } from "../threads/kept.ts";
import { clear } from "./clear.ts";
import type { Compactable, CompactableTurn } from "./compactable-turn.ts";
import type { Compactor, Conversation } from "./compactor.ts";
import { ContextEditing } from "./context-editing.ts";
import { compactsItself, nativeRoutes } from "./items.ts";
import type { Sender, TokenMemory } from "./measure.ts";
import type { CompactionMemory } from "./memory.ts";
import type { Sealer } from "./seal.ts";
import {
  doesNotFit,
  hasMedia,
  isSurelyBelow,
  note,
  senderOf,
  wholeOf,
  withCountedUsage,
  withList,
} from "./shortened-request.ts";
import { type Space, spaceOf } from "./space.ts";
import type { SummaryWork } from "./summarise.ts";
import type { Windows } from "./windows.ts";

export interface CompactionParts {
  compactor: Compactor;
  memory: CompactionMemory;
  tokens: TokenMemory;
  windows: Windows;
  threads: KeptThreads;
  sealer: Sealer;
  /** The configuration section `compaction`. */
  settings(): { enabled: boolean; threshold: number; keepLast: number; model: string };
  provider(name: string): Provider | undefined;
  /** Finds the model for summaries by its id. */
  model(id: string): { model: CatalogModel; routes: readonly ModelRoute[] } | undefined;
  ask(question: Prompt, options: { payer: Payer; timeoutMs: number }): Promise<ModelAnswer>;
  /** Called when a thread could not be stored. */
  keepFailed(error: unknown, requestId: string): void;
}

/** The members of a request that are needed to make a record of its conversation. */
export type RecordSource = Pick<
  CompactableTurn,
  | "exchange"
  | "caller"
  | "model"
  | "routes"
  | "body"
  | "format"
  | "members"
  | "compactable"
  | "asksRecord"
  | "reservation"
>;

/** The result of a compaction that a client requested explicitly. */
export interface CompactedNow {
  list: Element[] | undefined;
  /** Tokens of the whole conversation before and after. */
  before: number;
  after: number;
  usage: Usage;
}

/** How long a summary may take. */
const SUMMARY_MS = 120_000;

/** Applies compaction to chat requests. */
export class ChatCompaction {
  readonly #deps: CompactionParts;
  readonly #editing: ContextEditing;
  /** All routes of one request get the same shortened request. */
  readonly #fitted = new WeakMap<CompactableTurn, Promise<CompactableTurn>>();

  constructor(deps: CompactionParts) {
    this.#deps = deps;
    this.#editing = new ContextEditing({
      ...deps,
      spaceOf: (admitted) => this.#space(admitted),
      conversationOf: (admitted, space) => this.#conversation(admitted, space),
    });
  }

  /** The conversation's state if automatic compaction applies to the request: its client names a thread. Otherwise undefined. */
  compactableOf(chat: ChatRequest, format: WireFormat): Compactable | undefined {
    if (chat.threadId === undefined || chat.threadId === "" || format.entries === undefined) return undefined;
    const { settings, memory } = this.#deps;
    return settings().enabled ? { threadId: chat.threadId, since: memory.mark() } : undefined;
  }

  /**
   * How a requested record is made: by the routes that support it, if there are any, otherwise by the gateway. Undefined for most
   * requests, which ask for no record. Throws 400 if the request for a record is in the wrong place.
   */
  asked(
    body: Element,
    format: WireFormat,
    { routes, conversation }: { routes: readonly ModelRoute[]; conversation: Compactable | undefined },
  ): { asksRecord?: CompactableTurn["asksRecord"]; routes?: readonly ModelRoute[] } | undefined {
    const asksRecord = format.entries?.asksRecord(body);
    const pauses = conversation?.edits?.some((edit) => edit.type === "compact" && edit.pauses) === true;
    if (asksRecord === undefined && !pauses) return undefined;
    const native = nativeRoutes(routes, format, this.#deps.provider);
    if (native.length > 0) return { routes: native };
    // If compaction is disabled, the request for a record is refused later, where it is translated.
    return this.#deps.settings().enabled ? { asksRecord } : undefined;
  }

  /** The request to send to a provider. A short request is returned unchanged and synchronously. */
  shortenToFit(admitted: CompactableTurn, provider: Provider): CompactableTurn | Promise<CompactableTurn> {
    const { compactable: conversation } = admitted;
    if (conversation === undefined || conversation.shortened !== undefined || conversation.edited !== undefined)
      return admitted;
    if (conversation.edits !== undefined && !compactsItself(provider, admitted.format))
      return this.#editing.apply(admitted);
    if (conversation.threadId === undefined) return admitted;
    const space = this.#space(admitted);
    if (space === undefined) return admitted;
    const ratio = this.#deps.tokens.ratio(senderOf(admitted));
    if (isSurelyBelow(admitted, Math.min(space.soon, space.limit), ratio)) return admitted;
    let fitted = this.#fitted.get(admitted);
    if (fitted === undefined) {
      fitted = this.#shorten(admitted, space);
      this.#fitted.set(admitted, fitted);
    }
    return fitted;
  }

  /** Remembers the window that a provider reports when it refuses a prompt as too long. */
  learnWindow(model: CatalogModel, error: unknown): void {
    if (!(error instanceof UpstreamFault) || error.kind !== "context_length") return;
    const { limit } = contextCounts(error);
    if (limit !== undefined) this.#deps.windows.tell(model, limit);
  }

  /** The request to retry after a provider refused it as too long; undefined if a retry is pointless. */
  async afterOverflow(admitted: CompactableTurn, error: unknown): Promise<CompactableTurn | undefined> {
    if (!(error instanceof UpstreamFault) || error.kind !== "context_length") return undefined;
    const counts = contextCounts(error);
    const { compactable: conversation } = admitted;
    if (conversation === undefined) return undefined;
    const { edited, edits, shortened } = conversation;
    if (shortened?.isAfterOverflow === true || edited?.isAfterOverflow === true) return undefined;
    const compacts = edited !== undefined && edits?.some(({ type }) => type === "compact");
    if (conversation.threadId === undefined && compacts !== true) return undefined;
    const { compactor, tokens, settings } = this.#deps;
    const whole = this.#conversation(admitted, NO_SPACE);
    if (whole === undefined) return undefined;
    const counted = shortened?.counted ?? (await compactor.counted(whole));
    if (counts.requested !== undefined) tokens.correct(senderOf(admitted), counts.requested, counted);
    const sent = tokens.own(senderOf(admitted), counted);
    const window = this.#deps.windows.of(admitted.model);
    const told = counts.limit === undefined ? undefined : window;
    const known = told === undefined ? undefined : spaceOf(told, settings().threshold, admitted.chat.maxTokens);
    // Without usable figures from the provider, half of what was sent is assumed to fit.
    const space = known === undefined || sent <= known.limit ? halfOf(sent) : known;
    if (edited !== undefined) return this.#editing.afterOverflow(edited.original, space);
    return this.#shorten(wholeOf(admitted), space, { isAfterOverflow: true });
  }

  /**
   * The edits in a body that the gateway may have to apply; undefined if there are none, or if all of the model's providers apply
   * them. Throws 400 if they are invalid.
   */
  editsOf(
    body: Element,
    { format, routes }: { format: WireFormat; routes: readonly ModelRoute[] },
  ): Compactable["edits"] | undefined {
    const { editing } = format.entries ?? {};
    if (editing === undefined || body[editing.member] == null || !this.#deps.settings().enabled) return undefined;
    if (nativeRoutes(routes, format, this.#deps.provider).length === routes.length) return undefined;
    return editing.edits(body) ?? [];
  }

  /** The list of a body after clearing, and the number of tokens removed; undefined if the body requests no edits. */
  async cleared(
    body: Element,
    { entries }: WireFormat,
    sender: Sender,
  ): Promise<{ list: readonly Element[]; gone: number } | undefined> {
    const { settings, tokens } = this.#deps;
    const edits = settings().enabled ? entries?.editing?.edits(body) : undefined;
    if (entries === undefined || edits === undefined) return undefined;
    const list = await tokens.measure(entries.list(body), entries);
    const fixed = await tokens.count(entries.fixed(body));
    const cleared = await clear(list, { edits, format: entries, tokens, sender, fixed });
    return { list: cleared.list.map(({ element }) => element), gone: tokens.own(sender, cleared.gone) };
  }

  /** The request for a record instead of an answer, if the client wants to pause after compaction. */
  pausing(admitted: CompactableTurn): Promise<CompactableTurn | undefined> | undefined {
    return admitted.compactable?.edits === undefined ? undefined : this.#editing.pausing(admitted);
  }

  /**
   * The requested record, sealed for its account, and its usage. Throws 400 if a conversation in messages form ends with a tool
   * call that has no result.
   */
  async record(source: RecordSource, signal?: AbortSignal): Promise<{ text: string; sealed: string; usage: Usage }> {
    const { compactor, sealer } = this.#deps;
    const { conversation, usage } = this.#accounted(source, signal);
    const last = conversation.list.at(-1);
    const isOpen = last !== undefined && conversation.format.entry(last).pieces.some(({ type }) => type === "call");
    if (isOpen && conversation.format.member === "messages") {
      throw new ApiError(
        "invalid_request",
        "A conversation that ends with a tool call cannot be compacted. Add the tool's result and try again.",
        {
          param: "compaction",
        },
      );
    }
    const { text, truncated, before, tokens } = await compactor.record(conversation);
    note(source, { action: truncated ? "truncated" : "compacted", before, after: tokens });
    return { text, sealed: sealer.sealText(text, source.caller.accountId), usage };
  }

  /** Compacts everything but the last messages; `list` is undefined if there is nothing before them. */
  async compactNow(source: RecordSource, signal: AbortSignal): Promise<CompactedNow> {
    const { conversation, usage } = this.#accounted(source, signal);
    const before = await this.tokensOf(source);
    const compacted = await this.#deps.compactor.compactAll(conversation);
    if (compacted !== undefined) note(source, compacted);
    return { list: compacted?.list, before, after: compacted?.after ?? before, usage };
  }

  /** Tokens of a conversation, corrected by what the model's providers report. */
  async tokensOf(source: RecordSource): Promise<number> {
    const { compactor, tokens } = this.#deps;
    return tokens.own(senderOf(source), await compactor.counted(this.#accounted(source).conversation));
  }

  /** The conversation of a request, and the usage to which the calls for its summaries are added. */
  #accounted(source: RecordSource, signal?: AbortSignal): { conversation: Conversation; usage: Usage } {
    const window = this.#deps.windows.of(source.model) ?? source.model.contextLength;
    const usage: Usage = { inputTokens: 0, outputTokens: 0 };
    const conversation = this.#conversation(source, spaceOf(window, this.#deps.settings().threshold));
    if (conversation === undefined) throw new Error("The format has no list of messages.");
    conversation.work = { ...withCountedUsage(conversation.work, usage), wish: source.asksRecord?.wish, signal };
    return { conversation, usage };
  }

  /** After an answer, learns token counts and stores the thread. Never throws. */
  answered(admitted: CompactableTurn, { text, usage }: { text: string; usage: Usage | undefined }): void {
    const { compactable: conversation } = admitted;
    if (conversation === undefined) return;
    if (usage !== undefined && usage.estimated !== true) this.#learn(admitted, usage.inputTokens);
    const { threadId, keeps, since } = conversation;
    const { entries } = admitted.format;
    if (threadId === undefined || keeps !== undefined || entries === undefined) return;
    const { accountId } = admitted.caller;
    if (this.#deps.memory.isForgotten({ accountId, threadId, since, opening: "" })) return;
    const name = { accountId, kind: "thread" as const, threadId };
    const messages = [...(this.#list(admitted) ?? []), ...answerElements(entries, text)];
    const tokens = usage === undefined ? 0 : usage.inputTokens + usage.outputTokens;
    const kept = { model: admitted.model.id, tokens, text: { format: admitted.format.name, messages } };
    this.#deps.threads.keep(name, kept).catch((error: unknown) => {
      this.#deps.keepFailed(error, admitted.exchange.requestId);
    });
  }

  #learn(admitted: CompactableTurn, reported: number): void {
    const shortened = admitted.compactable?.shortened;
    // Only what was counted as it went up can be compared with the report.
    if (shortened === undefined || hasMedia(admitted.chat)) return;
    this.#deps.tokens.learn(senderOf(admitted), reported, shortened.counted);
  }

  async #shorten(admitted: CompactableTurn, space: Space, { isAfterOverflow = false } = {}): Promise<CompactableTurn> {
    const conversation = this.#conversation(admitted, space);
    if (conversation === undefined) return admitted;
    const short = await this.#deps.compactor.shorten(conversation);
    if (short === undefined) return admitted;
    if (short.after > space.limit) throw doesNotFit(admitted, short, space);
    note(admitted, short);
    return withList(admitted, short, { isAfterOverflow });
  }

  #space({ model, chat }: CompactableTurn): Space | undefined {
    const window = this.#deps.windows.of(model);
    if (window === undefined) return undefined;
    return spaceOf(window, this.#deps.settings().threshold, chat.maxTokens);
  }

  /** The client's list, as received or with stored history and files inserted. */
  #list(admitted: RecordSource): readonly Element[] | undefined {
    const { body, members, format, asksRecord } = wholeOf(admitted);
    const whole = { ...body, ...members };
    return format.entries?.list(asksRecord === undefined ? whole : format.entries.withoutAsking(whole));
  }

  #conversation(admitted: RecordSource, space: Space): Conversation | undefined {
    const { entries } = admitted.format;
    const list = this.#list(admitted);
    if (entries === undefined || list === undefined) return undefined;
    return {
      accountId: admitted.caller.accountId,
      threadId: admitted.compactable?.threadId,
      keeps: admitted.compactable?.keeps,
      since: admitted.compactable?.since,
      model: admitted.model.id,
      list,
      format: entries,
      fixed: entries.fixed(admitted.body),
      space,
      keepLast: this.#deps.settings().keepLast,
      work: this.#work(admitted),
    };
  }

  /** How summaries are made: by the configured model, or by the request's own model. */
  #work({ model, routes, caller, exchange, reservation }: RecordSource): SummaryWork {
    const { settings, windows, ask } = this.#deps;
    const configured = settings().model === "" ? undefined : this.#deps.model(settings().model);
    // The configured model is only used for chat: discovery may find out later that it is of another kind.
    const by = configured?.model.kind === "chat" ? configured : { model, routes };
    const payer = { caller, requestId: exchange.requestId, endpoint: exchange.path, labels: exchange, reservation };
    return {
      window: windows.of(by.model) ?? by.model.contextLength,
      ask: ({ system, user }, maxTokens) => ask({ ...by, system, user, maxTokens }, { payer, timeoutMs: SUMMARY_MS }),
    };
  }
}

/** Limits for conversations that are only counted. */
const NO_SPACE: Space = spaceOf(1, 1);

function halfOf(tokens: number): Space {
  const limit = Math.max(1, Math.floor(tokens / 2));
  const aim = Math.floor(limit * 0.9);
  return { ...spaceOf(limit, 1), limit, soon: limit, aim, whole: aim };
}
