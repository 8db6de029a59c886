// The state of the playground's chat: messages, settings, and the part that survives a reload.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ModelChoice } from "../../contract.ts";
import { keep, recall } from "../kept.ts";
import { query } from "../router.ts";
import { type AnswerProgress, askPlayground } from "./ask.ts";
import { type Message, openCalls, SETTINGS, type Settings, SettingsProblem } from "./conversation.ts";
import { CHAT_FORMATS, type ChatFormat } from "./formats.ts";

/** The draft that has not been sent. */
export interface ChatDraft {
  readonly text: string;
  /** As `data:` URLs. */
  readonly images: readonly string[];
}

/** The chat of a page. */
export interface ChatState {
  readonly settings: Signal<Settings>;
  readonly messages: Signal<readonly Message[]>;
  readonly draft: Signal<ChatDraft>;
  readonly running: Signal<AbortController | undefined>;
  /** A setting that cannot be sent. */
  readonly problem: Signal<SettingsProblem | undefined>;
  /** The conversation is too large to survive a reload completely. */
  readonly isTooLarge: Signal<boolean>;
  change(more: Partial<Settings>): void;
  type(draft: ChatDraft): void;
  /** Sends the draft. */
  send(model: ModelChoice): Promise<void>;
  /** Continues with the results of the tools, by the id of their call. */
  answerCalls(model: ModelChoice, results: Readonly<Record<string, string>>): Promise<void>;
  /** Requests the last answer again. */
  retry(model: ModelChoice): Promise<void>;
  clear(): void;
}

const EMPTY: ChatDraft = { text: "", images: [] };

interface Kept {
  readonly settings: Settings;
  readonly messages: readonly Message[];
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
  const problem = useSignal<SettingsProblem | undefined>(undefined);
  const isTooLarge = useSignal(false);
  const isRead = useSignal(false);
  if (!isRead.peek()) {
    const kept = recall<Kept>("chat");
    const linked = query.peek().get("model");
    settings.value = { ...SETTINGS, ...kept?.settings, ...(linked === null ? {} : { model: linked }) };
    messages.value = kept?.messages ?? [];
    draft.value = { ...EMPTY, text: recall<string>("chat-draft") ?? "" };
    isRead.value = true;
  }
  return { settings, messages, draft, running, problem, isTooLarge };
}

/** The chat that this tab stored, or a new one. */
export function useChat(): ChatState {
  const { settings, messages, draft, running, problem, isTooLarge } = useKept();
  useEffect(() => () => running.peek()?.abort(), []);

  const save = () => {
    const kept: Kept = { settings: settings.value, messages: messages.value.map(withoutRaw) };
    if (keep("chat", kept)) isTooLarge.value = false;
    // Pictures take most of the space.
    else
      isTooLarge.value =
        !keep("chat", { ...kept, messages: kept.messages.map(withoutImages) }) || kept.messages.some(hasImages);
  };
  const type = (next: ChatDraft) => {
    draft.value = next;
    keep("chat-draft", next.text);
  };
  const ask = async (said: readonly Message[], model: ModelChoice): Promise<boolean> => {
    const format = formatOf(settings.value);
    const body = bodyOrProblem(format, { ...settings.value, model: model.id }, said);
    problem.value = body instanceof SettingsProblem ? body : undefined;
    if (body instanceof SettingsProblem) return false;
    const abort = new AbortController();
    running.value = abort;
    messages.value = said;
    save();
    const id = nextId(said);
    const tell = (progress: AnswerProgress) => {
      messages.value = [...said, { id, role: "assistant", model: model.id, ...progress }];
    };
    void askPlayground({ format, body, signal: abort.signal }, tell).finally(() => {
      if (running.value === abort) running.value = undefined;
      // The chat was cleared meanwhile, so nothing of it is restored.
      if (messages.value[0]?.id === said[0]?.id) save();
    });
    return true;
  };
  return {
    ...{ settings, messages, draft, running, problem, isTooLarge, type },
    change: (more) => {
      settings.value = { ...settings.value, ...more };
      problem.value = undefined;
      save();
    },
    send: async (model) => {
      const { text, images } = draft.value;
      if ((text.trim() === "" && images.length === 0) || running.value !== undefined) return;
      const said = messages.value;
      const mine: Message = { id: nextId(said), role: "user", text: text.trim(), images };
      if (await ask([...said, mine], model)) type(EMPTY);
    },
    answerCalls: async (model, results) => {
      const said = messages.value;
      const answers = openCalls(said).map(
        ({ id, name }, index): Message => ({
          id: nextId(said) + index,
          role: "tool",
          callId: id,
          name,
          text: results[id] ?? "",
        }),
      );
      if (running.value === undefined && answers.length > 0) await ask([...said, ...answers], model);
    },
    retry: async (model) => {
      if (running.value !== undefined) return;
      const said = messages.value;
      await ask(said.at(-1)?.role === "assistant" ? said.slice(0, -1) : said, model);
    },
    clear: () => {
      running.value?.abort();
      messages.value = [];
      problem.value = undefined;
      save();
    },
  };
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
