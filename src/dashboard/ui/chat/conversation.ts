// A conversation of the playground in words of its own, whichever format it is sent in.

/** A tool that the model asked for. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote them: JSON, unless it erred. */
  readonly arguments: string;
}

/** What has come of an answer so far. */
export interface ChatReply {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly ToolCall[];
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** Why it ended, in the format's own word. */
  readonly finish: string | undefined;
}

/** How long it took, and what of it only the network knows. */
export interface WireExchange {
  /** Until the first word, and in all. */
  readonly firstMs?: number;
  readonly totalMs?: number;
  readonly requestId?: string | null;
  readonly status?: number;
  readonly path: string;
  /** The body that was sent, and what came back as it came; not kept over a reload. */
  readonly sent?: string;
  readonly received?: string;
}

/** What went wrong. */
export interface AnswerFailure {
  readonly message: string;
  readonly code: string;
}

/** One message; `id` tells them apart. */
export type Message =
  | { readonly id: number; readonly role: "user"; readonly text: string; readonly images: readonly string[] }
  | {
      readonly id: number;
      readonly role: "assistant";
      readonly model: string;
      readonly reply: ChatReply;
      readonly exchange: WireExchange;
      readonly failure?: AnswerFailure;
      readonly stopped?: true;
    }
  | {
      readonly id: number;
      readonly role: "tool";
      readonly callId: string;
      readonly name: string;
      readonly text: string;
    };

/** What is asked beside the messages; empty text: the model's own. */
export interface Settings {
  readonly model: string;
  readonly format: "chat" | "responses" | "messages";
  readonly system: string;
  readonly temperature: string;
  readonly topP: string;
  readonly maxTokens: string;
  readonly effort: string;
  readonly shape: "text" | "json_object" | "json_schema";
  readonly schema: string;
  readonly tools: string;
  readonly threadId: string;
}

/** What a conversation begins with. */
export const SETTINGS: Settings = {
  model: "",
  format: "chat",
  system: "",
  temperature: "",
  topP: "",
  maxTokens: "",
  effort: "",
  shape: "text",
  schema: "",
  tools: "",
  threadId: "",
};

/** Nothing has come yet. */
export const NO_REPLY: ChatReply = {
  text: "",
  reasoning: "",
  calls: [],
  inputTokens: undefined,
  outputTokens: undefined,
  finish: undefined,
};

/** A tool as it is defined here. */
export interface PlayTool {
  readonly name: string;
  readonly description?: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A field of the settings that cannot be sent. */
export class SettingsProblem extends Error {
  readonly field: "tools" | "schema";

  constructor(field: "tools" | "schema", message: string) {
    super(message);
    this.field = field;
  }
}

/** The tools, however their writer is used to write them. Throws `SettingsProblem`. */
export function playTools({ tools }: Settings): readonly PlayTool[] {
  if (tools.trim() === "") return [];
  const written = parsed("tools", tools);
  const list = Array.isArray(written) ? written : [written];
  return list.map((one: unknown, index) => {
    const outer = (one ?? {}) as Readonly<Record<string, unknown>>;
    const inner = (outer["function"] ?? outer) as Readonly<Record<string, unknown>>;
    const { name, description } = inner;
    if (typeof name !== "string" || name === "")
      throw new SettingsProblem("tools", `Tool ${index + 1} has no name. Write {"name": …, "parameters": …}.`);
    const parameters = inner["parameters"] ?? inner["input_schema"] ?? { type: "object", properties: {} };
    return {
      name,
      ...(typeof description === "string" ? { description } : {}),
      parameters: parameters as PlayTool["parameters"],
    };
  });
}

/** The JSON Schema that the answer is to follow. Throws `SettingsProblem`. */
export function schemaOf({ schema }: Settings): Readonly<Record<string, unknown>> {
  const written = parsed("schema", schema);
  if (typeof written === "object" && written !== null && !Array.isArray(written))
    return written as Readonly<Record<string, unknown>>;
  throw new SettingsProblem("schema", "The schema must be a JSON object.");
}

function parsed(field: "tools" | "schema", text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new SettingsProblem(field, `This is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Calls at the end of a conversation that nobody has answered yet. */
export function openCalls(messages: readonly Message[]): readonly ToolCall[] {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const last = messages[at];
  if (last?.role !== "assistant" || at !== messages.length - 1) return [];
  return last.failure === undefined && last.stopped === undefined ? last.reply.calls : [];
}

/** What a model is told of a conversation: answers that never came are left out, with what was asked for them. */
export function sentMessages(messages: readonly Message[]): readonly Message[] {
  return messages.filter((message, index) => {
    if (message.role === "assistant") return isSaid(message);
    if (message.role === "tool") return true;
    const answer = messages[index + 1];
    return answer === undefined || answer.role !== "assistant" || isSaid(answer);
  });
}

function isSaid(message: Message): boolean {
  if (message.role !== "assistant") return true;
  return message.reply.text !== "" || (message.reply.calls.length > 0 && message.stopped === undefined);
}
