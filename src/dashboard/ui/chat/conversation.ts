// A conversation of the playground, independent of the format in which it is sent.

/** A call of a tool by the model. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as the model wrote them: usually JSON, but the model can make mistakes. */
  readonly arguments: string;
}

/** The part of an answer that has arrived. */
export interface ChatReply {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly ToolCall[];
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** Why it ended, in the format's own term. */
  readonly finish: string | undefined;
}

/** Durations, and data that is only known while the request is sent. */
export interface WireExchange {
  /** Milliseconds to the first word, and in total. */
  readonly firstMs?: number;
  readonly totalMs?: number;
  readonly requestId?: string | null;
  readonly status?: number;
  readonly path: string;
  /** The body that was sent, and the answer as it arrived; not kept over a reload. */
  readonly sent?: string;
  readonly received?: string;
}

/** The error, if there was one. */
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

/** The settings besides the messages; empty text means the model's default. */
export interface Settings {
  readonly model: string;
  /** A second model that answers the same questions; empty: none. */
  readonly compare: string;
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

/** The settings at the start of a conversation. */
export const SETTINGS: Settings = {
  model: "",
  compare: "",
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

/** An answer of which nothing has arrived. */
export const NO_REPLY: ChatReply = {
  text: "",
  reasoning: "",
  calls: [],
  inputTokens: undefined,
  outputTokens: undefined,
  finish: undefined,
};

/** A tool that the user has defined. */
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

/** The tools, in any of the forms in which they are usually written. Throws `SettingsProblem`. */
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

/** The JSON Schema that the answer must follow. Throws `SettingsProblem`. */
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
    throw new SettingsProblem(
      field,
      `This is not valid JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Calls at the end of a conversation that have no result yet. */
export function openCalls(messages: readonly Message[]): readonly ToolCall[] {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const last = messages[at];
  if (last?.role !== "assistant" || at !== messages.length - 1) return [];
  return last.failure === undefined && last.stopped === undefined ? last.reply.calls : [];
}

/** The messages that are sent to a model. Questions without an answer are left out. */
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

/** The conversation as Markdown, to be kept elsewhere. Pictures are left out. */
export function conversationText(messages: readonly Message[]): string {
  const parts = messages.map((message) => {
    if (message.role === "user") return `## User\n\n${message.text}`;
    if (message.role === "tool") return `## Result of ${message.name}\n\n${fenced(message.text)}`;
    const { reply, failure, model } = message;
    const calls = reply.calls.map((call) => `Calls ${call.name}:\n\n${fenced(call.arguments)}`);
    const said = [reply.text, ...calls, ...(failure === undefined ? [] : [`(${failure.code}: ${failure.message})`])];
    return `## ${model}\n\n${said.filter((text) => text !== "").join("\n\n")}`;
  });
  return `${parts.join("\n\n")}\n`;
}

/** A fence that is longer than every one in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
