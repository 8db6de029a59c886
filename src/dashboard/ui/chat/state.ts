// The state of the playground's chat: messages, settings, and the part that survives a reload.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ModelChoice } from "../../contract.ts";
import { keep, recall } from "../kept.ts";
import { query } from "../router.ts";
import { type AnswerProgress, askPlayground } from "./ask.ts";
import { type Message, openCalls, SETTINGS, type Settings, SettingsProblem } from "./conversation.ts";
import { CHAT_FORMATS, type ChatFormat } from "./formats.ts";
import type { UserMessage } from "./question.tsx";

/** The draft that has not been sent. */
export interface ChatDraft {
  readonly text: string;
  /** As `data:` URLs. */
  readonly images: readonly string[];
}

/** The questions to one model, and its answers. */
export interface Lane {
  readonly messages: Signal<readonly Message[]>;
  readonly running: Signal<AbortController | undefined>;
}

/** The models that answer; `second` only while two are compared. */
export interface Models {
  readonly first: ModelChoice;
  readonly second: ModelChoice | undefined;
}

/** The chat of a page. */
export interface ChatState extends Lane {
  readonly settings: Signal<Settings>;
  /** The messages of the second model since two are compared. */
  readonly second: Lane;
  /** The number of messages before the comparison; both models read them. */
  readonly sharedCount: Signal<number>;
  readonly draft: Signal<ChatDraft>;
  /** A setting that cannot be sent. */
  readonly problem: Signal<SettingsProblem | undefined>;
  /** The conversation is too large to survive a reload completely. */
  readonly isTooLarge: Signal<boolean>;
  change(more: Partial<Settings>): void;
  type(draft: ChatDraft): void;
  /** Sends the draft. */
  send(models: Models): Promise<void>;
  /** Continues with the results of the tools, by the id of their call. */
  answerCalls(lane: Lane, model: ModelChoice, results: Readonly<Record<string, string>>): Promise<void>;
  /** Sends an earlier message anew and drops what followed it. False: it cannot be sent. */
  edit(question: UserMessage, models: Models): boolean;
  /** Requests the last answer again. */
  retry(lane: Lane, model: ModelChoice): Promise<void>;
  stop(): void;
  clear(): void;
}

const EMPTY: ChatDraft = { text: "", images: [] };

interface Kept {
  readonly settings: Settings;
  readonly messages: readonly Message[];
  readonly second: readonly Message[];
  readonly sharedCount: number;
}

/** Whether an answer is arriving. */
export function isBusy({ running, second }: Pick<ChatState, "running" | "second">): boolean {
  return running.value !== undefined || second.running.value !== undefined;
}

/** The chosen format. */
export function formatOf({ format }: Settings): ChatFormat {
  return CHAT_FORMATS.find(({ slug }) => slug === format) ?? CHAT_FORMATS[0];
}

/** The chat that this tab stored, or a new one. */
function useKept() {
  const settings = useSignal<Settings>(SETTINGS);
  const messages = useSignal<readonly Message[]>([]);
  const draft = useSignal<ChatDraft>(EMPTY);
  const running = useSignal<AbortController | undefined>(undefined);
  const second: Lane = { messages: useSignal<readonly Message[]>([]), running: useSignal(undefined) };
  const sharedCount = useSignal(0);
  const problem = useSignal<SettingsProblem | undefined>(undefined);
  const isTooLarge = useSignal(false);
  const isRead = useSignal(false);
  if (!isRead.peek()) {
    const kept = recall<Partial<Kept>>("chat");
    const linked = query.peek().get("model");
    settings.value = { ...SETTINGS, ...kept?.settings, ...(linked === null ? {} : { model: linked }) };
    messages.value = kept?.messages ?? [];
    second.messages.value = kept?.second ?? [];
    sharedCount.value = kept?.sharedCount ?? 0;
    draft.value = { ...EMPTY, text: recall<string>("chat-draft") ?? "" };
    isRead.value = true;
  }
  return { settings, messages, draft, running, second, sharedCount, problem, isTooLarge };
}

type ChatParts = ReturnType<typeof useKept>;

/** The chat that this tab stored, or a new one. */
export function useChat(): ChatState {
  const parts = useKept();
  const { settings, messages, draft, second, problem } = parts;
  const stop = () => {
    for (const { running } of [parts, second]) running.peek()?.abort();
  };
  useEffect(() => stop, []);
  const type = (next: ChatDraft) => {
    draft.value = next;
    keep("chat-draft", next.text);
  };
  return {
    ...{ ...parts, type, stop },
    change: (more) => {
      const before = settings.value;
      settings.value = { ...before, ...more };
      problem.value = undefined;
      if ((before.compare === "") !== (settings.value.compare === "")) {
        end(second);
        second.messages.value = [];
        // The answer that is on its way belongs to what both models have read.
        const isComing = parts.running.value !== undefined && messages.value.at(-1)?.role !== "assistant";
        parts.sharedCount.value = messages.value.length + (isComing ? 1 : 0);
      }
      save(parts);
    },
    send: async (models) => {
      const { text, images } = draft.value;
      if ((text.trim() === "" && images.length === 0) || isBusy(parts)) return;
      if (askModels(parts, models, { text: text.trim(), images })) type(EMPTY);
    },
    edit: ({ id, text, images }, models) => {
      if (isBusy(parts)) return false;
      return askModels(parts, models, { text, images, before: id });
    },
    answerCalls: async (lane, model, results) => {
      const conversation = lane.messages.value;
      const answers = openCalls(conversation).map(
        ({ id, name }, index): Message => ({
          id: nextId(conversation) + index,
          role: "tool",
          callId: id,
          name,
          text: results[id] ?? "",
        }),
      );
      if (lane.running.value === undefined && answers.length > 0)
        ask(parts, { lane, model, said: [...conversation, ...answers] });
    },
    retry: async (lane, model) => {
      if (lane.running.value !== undefined) return;
      const said = lane.messages.value;
      ask(parts, { lane, model, said: said.at(-1)?.role === "assistant" ? said.slice(0, -1) : said });
    },
    clear: () => {
      end(parts);
      end(second);
      messages.value = [];
      second.messages.value = [];
      parts.sharedCount.value = 0;
      problem.value = undefined;
      save(parts);
    },
  };
}

/** Aborts an answer that is not wanted any more. */
function end({ running }: Lane): void {
  running.value?.abort();
  running.value = undefined;
}

function save({ settings, messages, second, sharedCount, isTooLarge }: ChatParts): void {
  const kept: Kept = {
    settings: settings.value,
    messages: messages.value.map(withoutRaw),
    second: second.messages.value.map(withoutRaw),
    sharedCount: sharedCount.value,
  };
  if (keep("chat", kept)) {
    isTooLarge.value = false;
    return;
  }
  // Pictures take most of the space.
  const small = { ...kept, messages: kept.messages.map(withoutImages), second: kept.second.map(withoutImages) };
  isTooLarge.value = !keep("chat", small) || kept.messages.some(hasImages);
}

/** Sends a question to the models, behind all messages or behind those `before` one of them, whose successors are dropped. */
function askModels(
  parts: ChatParts,
  { first, second }: Models,
  { text, images, before = Number.POSITIVE_INFINITY }: ChatDraft & { before?: number },
): boolean {
  // The same id in both conversations: answers to one question are shown together.
  const id = Math.max(nextId(parts.messages.value), nextId(parts.second.messages.value));
  // Ids only grow within a conversation.
  const saidTo = (lane: Lane): readonly Message[] => [
    ...lane.messages.value.filter((message) => message.id < before),
    { id, role: "user", text, images },
  ];
  const sharedCount = parts.sharedCount.value;
  parts.sharedCount.value = Math.min(sharedCount, saidTo(parts).length - 1);
  if (!ask(parts, { lane: parts, model: first, said: saidTo(parts) })) {
    parts.sharedCount.value = sharedCount;
    return false;
  }
  if (second !== undefined) ask(parts, { lane: parts.second, model: second, said: saidTo(parts.second) });
  else parts.second.messages.value = parts.second.messages.value.filter((message) => message.id < before);
  return true;
}

/** Sends `said` to a model, and puts what arrives behind it. False: a setting cannot be sent. */
function ask(
  parts: ChatParts,
  { lane, model, said }: { lane: Lane; model: ModelChoice; said: readonly Message[] },
): boolean {
  const { settings, messages, second, sharedCount, problem } = parts;
  const isSecond = lane === second;
  const format = formatOf(settings.value);
  const { threadId } = settings.value;
  const wanted = {
    ...settings.value,
    model: model.id,
    // In one thread each model would read the other's answers.
    threadId: isSecond && threadId.trim() !== "" ? `${threadId.trim()}-2` : threadId,
  };
  const before = isSecond ? messages.value.slice(0, sharedCount.value) : [];
  const body = bodyOrProblem(format, wanted, [...before, ...said]);
  problem.value = body instanceof SettingsProblem ? body : undefined;
  if (body instanceof SettingsProblem) return false;
  const abort = new AbortController();
  lane.running.value = abort;
  lane.messages.value = said;
  save(parts);
  const id = nextId(said);
  const tell = (progress: AnswerProgress) => {
    // The conversation was cleared meanwhile.
    if (lane.running.value !== abort) return;
    lane.messages.value = [...said, { id, role: "assistant", model: model.id, ...progress }];
  };
  void askPlayground({ format, body, signal: abort.signal }, tell).finally(() => {
    if (lane.running.value !== abort) return;
    lane.running.value = undefined;
    save(parts);
  });
  return true;
}

function bodyOrProblem(format: ChatFormat, settings: Settings, said: readonly Message[]): object | SettingsProblem {
  try {
    return format.body(settings, said);
  } catch (error) {
    if (error instanceof SettingsProblem) return error;
    throw error;
  }
}

function nextId(messages: readonly Message[]): number {
  return Math.max(0, ...messages.map(({ id }) => id)) + 1;
}

function withoutRaw(message: Message): Message {
  if (message.role !== "assistant") return message;
  const { sent: _sent, received: _received, ...exchange } = message.exchange;
  return { ...message, exchange };
}

function withoutImages(message: Message): Message {
  return message.role === "user" ? { ...message, images: [] } : message;
}

function hasImages(message: Message): boolean {
  return message.role === "user" && message.images.length > 0;
}
