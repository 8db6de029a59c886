// The neutral request: everything a chat client can ask for, independent of protocols. Pure data; wire formats decode into it
// and dialects write from it. Raw values are kept beside unified ones where a protocol has more detail.

/** The source of an image, document or audio clip. */
export type MediaSource =
  | { kind: "url"; url: string }
  | { kind: "base64"; mediaType: string; data: string }
  | { kind: "file"; fileId: string };

/** A prompt-cache marker (Anthropic `cache_control`, OpenAI `prompt_cache_breakpoint`), carried verbatim (cache-marks.ts). */
export type CacheControl = Readonly<Record<string, unknown>>;

export interface TextPart {
  type: "text";
  text: string;
  cacheControl?: CacheControl;
  /** Citations or annotations, verbatim, in their original protocol's form. */
  annotations?: unknown[];
}

export interface ImagePart {
  type: "image";
  source: MediaSource;
  /** OpenAI's `detail`: auto, low, high, original. */
  detail?: string;
  cacheControl?: CacheControl;
}

/** A document such as a PDF. */
export interface FilePart {
  type: "file";
  source: MediaSource | { kind: "text"; text: string };
  filename?: string;
  /** The client's remark about it for the model (Anthropic `context`). */
  context?: string;
  cacheControl?: CacheControl;
}

export interface AudioPart {
  type: "audio";
  data: string;
  format: string;
}

/** Model reasoning returned by the client. `signature`, `encrypted` and `redacted` are byte-for-byte values. */
export interface ReasoningPart {
  type: "reasoning";
  /** Empty for signature-only and redacted blocks. */
  text: string;
  signature?: string;
  /** Anthropic `redacted_thinking` data. */
  redacted?: string;
  /** OpenAI Responses reasoning item: id, encrypted_content and summary. */
  itemId?: string;
  encrypted?: string;
  summary?: string[];
  /** OpenRouter's `reasoning_details`, verbatim. */
  details?: readonly unknown[];
  /** The protocol that issued the signature or encrypted value; others cannot read it. */
  origin?: string;
  /** The provider that issued it, if known; others cannot read it either. */
  minter?: string;
}

export interface RefusalPart {
  type: "refusal";
  text: string;
}

export interface ToolCallPart {
  type: "tool-call";
  callId: string;
  name: string;
  /** `custom` tools take free text instead of JSON. */
  kind: "function" | "custom";
  /** JSON text for a function, free text for a custom tool; as received. */
  arguments: string;
  namespace?: string;
  /** Signature of the reasoning behind the call (Gemini `thoughtSignature`). */
  signature?: string;
  /** The protocol that issued it; absent: Gemini. */
  origin?: string;
  /** The provider that issued it, if known. */
  minter?: string;
  itemId?: string;
  cacheControl?: CacheControl;
}

export interface ToolResultPart {
  type: "tool-result";
  callId: string;
  /** The tool's name if the protocol provides one. */
  name?: string;
  kind?: "function" | "custom";
  content: (TextPart | ImagePart | FilePart | OpaquePart)[];
  isError?: boolean;
  cacheControl?: CacheControl;
}

/** A part that only one protocol has (server tool results, search results …). */
export interface OpaquePart {
  type: "opaque";
  /** The protocol, such as `anthropic-messages`. */
  origin: string;
  value: Readonly<Record<string, unknown>>;
}

export type SystemContent = TextPart | OpaquePart;
export type UserContent = TextPart | ImagePart | FilePart | AudioPart | OpaquePart;
export type AssistantContent =
  | TextPart
  | RefusalPart
  | ReasoningPart
  | ToolCallPart
  | ImagePart
  | AudioPart
  | OpaquePart;

/**
 * One turn. Several tool results of one turn are one `tool` message with several parts. System messages may be anywhere; a
 * dialect whose protocol only has them at the top moves them.
 */
export type ChatMessage =
  | { role: "system"; content: SystemContent[]; name?: string }
  | { role: "user"; content: UserContent[]; name?: string }
  | { role: "assistant"; content: AssistantContent[]; name?: string }
  | { role: "tool"; content: ToolResultPart[] };

export interface FunctionTool {
  type: "function";
  name: string;
  description?: string;
  /** JSON Schema; absent means no parameters. */
  parameters?: Readonly<Record<string, unknown>>;
  strict?: boolean;
  namespace?: string;
  cacheControl?: CacheControl;
}

/** A tool with free-text input, possibly constrained by a grammar (OpenAI `custom`). */
export interface CustomTool {
  type: "custom";
  name: string;
  description?: string;
  format?: Readonly<Record<string, unknown>>;
  namespace?: string;
}

/** A tool that the provider runs itself; only its own protocol supports it. */
export interface ServerTool {
  type: "server";
  origin: string;
  /** Its name in `x-sallyport-dropped`, such as `web_search_20250305`. */
  name: string;
  value: Readonly<Record<string, unknown>>;
  /** Parts of the answer that its protocol only sends if they are asked for. */
  includes?: readonly string[];
}

export type Tool = FunctionTool | CustomTool | ServerTool;

export type ToolChoice =
  | { type: "auto" }
  | { type: "none" }
  | { type: "required" }
  | { type: "tool"; name: string; kind?: "function" | "custom" }
  | { type: "allowed"; mode: "auto" | "required"; names: string[] };

export type ResponseFormat =
  | { type: "text" }
  | { type: "json_object" }
  | {
      type: "json_schema";
      name: string;
      schema: Readonly<Record<string, unknown>>;
      strict?: boolean;
      description?: string;
    };

export interface ReasoningOptions {
  /** none, minimal, low, medium, high, xhigh, max: as the client wrote it. */
  effort?: string;
  budgetTokens?: number;
  /** Absent: the model's own default. */
  enabled?: boolean;
  /** OpenAI Responses `summary`: auto, concise, detailed. */
  summary?: string;
}

export interface ChatRequest {
  /** The model as the client wrote it. */
  model: string;
  messages: ChatMessage[];
  stream: boolean;
  /** Whether the client wants usage in its stream; upstreams are always asked for it. */
  includeUsage: boolean;
  /** Whether the usage of the answer states its cost. */
  includeCost?: true;
  tools: Tool[];
  toolChoice?: ToolChoice;
  parallelToolCalls?: boolean;
  maxTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  seed?: number;
  stop?: string[];
  n?: number;
  logprobs?: boolean;
  topLogprobs?: number;
  logitBias?: Readonly<Record<string, number>>;
  responseFormat?: ResponseFormat;
  reasoning?: ReasoningOptions;
  user?: string;
  metadata?: Readonly<Record<string, unknown>>;
  store?: boolean;
  serviceTier?: string;
  verbosity?: string;
  /** The kinds of output: `text`, `image`, `audio`. */
  modalities?: string[];
  /** `thread_id` or `conversation_id`: compaction may apply. */
  threadId?: string;
  /** Top-level members without a neutral form, verbatim, in the client's protocol. */
  extra: Readonly<Record<string, unknown>>;
}
