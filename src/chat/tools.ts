// For upstreams that only support plain functions: custom (free-text) tools become functions with one string argument,
// namespaces become part of the name, names that are too long or invalid are shortened; the answer is converted back. The
// table only depends on the request, so both directions agree.

import { repairJson } from "../base/json-repair.ts";
import { UnusedNames } from "../base/unused-names.ts";
import type { ChatEvent } from "./event.ts";
import type { ChatMessage, ChatRequest, CustomTool, FunctionTool, Tool, ToolCallPart, ToolChoice } from "./request.ts";

/** The original of a flattened name. */
interface Original {
  name: string;
  namespace: string | undefined;
  kind: "function" | "custom";
}

/** The only argument of a function that represents a custom tool. */
const INPUT = "input";
/** The shortest limit among the protocols (OpenAI functions: 64 of [a-zA-Z0-9_-]). */
const NAME_CHARS_MAX = 64;
const NAME_LEGAL = /^[a-zA-Z0-9_-]{1,64}$/;
/** The same where a name starts with a letter or `_`. */
const NAME_LEGAL_BY_LETTER = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/** An upstream's constraints on tool names beyond the common ones. */
export interface NameRules {
  /** They start with a letter or `_`. */
  leadingLetter?: boolean;
}

const PLAIN_RULES: NameRules = {};

/** The names of the requests that are in progress: the answer needs those of its request again. */
const known = new WeakMap<ChatRequest, NameTable>();

function namesOf(chat: ChatRequest, rules: NameRules): NameTable {
  let names = known.get(chat);
  if (names?.rules !== rules) {
    names = new NameTable(chat, rules);
    known.set(chat, names);
  }
  return names;
}

/**
 * The request with plain functions only; the same object if nothing changes. With `native`, for upstreams that support custom
 * tools and namespaces, only invalid names change.
 */
export function flattenTools(chat: ChatRequest, options: NameRules & { native?: boolean } = PLAIN_RULES): ChatRequest {
  const names = namesOf(chat, options);
  if (names.idle) return chat;
  if (options.native) return shortenNames(chat, names);
  const flat: ChatRequest = {
    ...chat,
    tools: chat.tools.map((tool) => flatTool(tool, names)),
    messages: chat.messages.map((message) => flatMessage(message, names)),
  };
  if (chat.toolChoice !== undefined) flat.toolChoice = flatChoice(chat.toolChoice, names);
  return flat;
}

/** The first tool of each name. */
export function firstByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const first = new Map<string, Tool>();
  for (const tool of tools) if (!first.has(tool.name)) first.set(tool.name, tool);
  return first;
}

/** Undoes `flattenTools` in the events of the answer. Events of native custom or namespaced calls pass unchanged. */
export class ToolRestorer {
  readonly #names: NameTable;
  /** Argument text of open calls of custom tools. */
  readonly #inputs = new Map<string, string>();

  /** `rules`: those with which the request was flattened. */
  constructor(chat: ChatRequest, rules: NameRules = PLAIN_RULES) {
    this.#names = namesOf(chat, rules);
  }

  /** Whether every event passes unchanged, so that the restorer can be omitted. */
  get idle(): boolean {
    return this.#names.idle;
  }

  push(event: ChatEvent, out: ChatEvent[]): void {
    if (event.type === "tool-start" && event.kind === "function" && event.namespace === undefined) {
      const original = this.#names.original(event.name);
      if (original !== undefined) {
        if (original.kind === "custom") this.#inputs.set(event.id, "");
        const { namespace, ...named } = original;
        out.push({ ...event, ...named, ...(namespace === undefined ? {} : { namespace }) });
        return;
      }
    }
    if (event.type === "tool-delta") {
      const held = this.#inputs.get(event.id);
      if (held !== undefined) {
        this.#inputs.set(event.id, held + event.text);
        return;
      }
    }
    if (event.type === "tool-end") {
      const held = this.#inputs.get(event.id);
      if (held !== undefined) {
        this.#inputs.delete(event.id);
        const text = inputOf(held);
        if (text !== "") out.push({ type: "tool-delta", choice: event.choice, id: event.id, text });
      }
    }
    out.push(event);
  }
}

/** The free text inside the argument; if a model wrote plain text, that is used. */
function inputOf(text: string): string {
  const repaired = repairJson(text);
  if (repaired === undefined) return text;
  const value: unknown = JSON.parse(repaired);
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return text;
  const input = (value as Record<string, unknown>)[INPUT];
  if (typeof input === "string") return input;
  const values = Object.values(value);
  // Some models rename a lone argument.
  return values.length === 1 && typeof values[0] === "string" ? values[0] : values.length === 0 ? "" : text;
}

/** Flattened names of a request's tools, first come first served; stable for one request. */
class NameTable {
  readonly #flat = new Map<string, string>();
  readonly #originals = new Map<string, Original>();
  /** The first flattened name of each name, whatever its namespace. */
  readonly #anywhere = new Map<string, string>();
  readonly #unused = new UnusedNames({ before: "_", charsMax: NAME_CHARS_MAX });
  readonly rules: NameRules;
  #changes = false;

  constructor(chat: ChatRequest, rules: NameRules) {
    this.rules = rules;
    // Plain functions keep their names, so they are entered first and others are renamed.
    const tools = chat.tools.filter((tool): tool is FunctionTool | CustomTool => tool.type !== "server");
    const isPlain = (tool: FunctionTool | CustomTool) =>
      tool.type === "function" && tool.namespace === undefined && isLegal(tool.name, rules);
    for (const tool of tools) if (isPlain(tool)) this.#enter(tool.name, tool.namespace, tool.type);
    for (const tool of tools) if (!isPlain(tool)) this.#enter(tool.name, tool.namespace, tool.type);
    for (const message of chat.messages) {
      if (message.role !== "assistant") continue;
      for (const part of message.content) {
        if (part.type === "tool-call") this.#enter(part.name, part.namespace, part.kind);
      }
    }
  }

  get idle(): boolean {
    return !this.#changes;
  }

  flat(name: string, namespace: string | undefined): string {
    return this.#flat.get(key(name, namespace)) ?? name;
  }

  /** The flattened name for a name without its namespace (tool_choice). */
  anyFlat(name: string): string {
    return this.#flat.get(key(name, undefined)) ?? this.#anywhere.get(name) ?? name;
  }

  original(flat: string): Original | undefined {
    return this.#originals.get(flat);
  }

  #enter(name: string, namespace: string | undefined, kind: "function" | "custom"): void {
    const id = key(name, namespace);
    if (this.#flat.has(id)) return;
    const flat = this.#unused.take(legal(namespace === undefined ? name : `${namespace}__${name}`, this.rules));
    this.#flat.set(id, flat);
    if (flat !== name || kind === "custom" || namespace !== undefined) {
      this.#originals.set(flat, { name, namespace, kind });
      if (!this.#anywhere.has(name)) this.#anywhere.set(name, flat);
      this.#changes = true;
    }
  }
}

function key(name: string, namespace: string | undefined): string {
  return `${namespace ?? ""}\u0000${name}`;
}

function isLegal(name: string, { leadingLetter }: NameRules): boolean {
  return (leadingLetter ? NAME_LEGAL_BY_LETTER : NAME_LEGAL).test(name);
}

/** A name that the upstream accepts; truncated names are made unique by a hash. */
function legal(name: string, rules: NameRules): string {
  if (isLegal(name, rules)) return name;
  const spelt = name.replace(/[^a-zA-Z0-9_-]/g, "_");
  const clean = rules.leadingLetter && !/^[a-zA-Z_]/.test(spelt) ? `_${spelt}` : spelt;
  if (clean.length <= NAME_CHARS_MAX && clean !== "") return clean;
  return `${clean.slice(0, NAME_CHARS_MAX - 9)}_${Bun.hash.xxHash32(name).toString(16).padStart(8, "0")}`;
}

function flatTool(tool: Tool, names: NameTable): Tool {
  if (tool.type === "server") return tool;
  const name = names.flat(tool.name, tool.namespace);
  if (tool.type === "function") {
    const { namespace: _namespace, ...rest } = tool;
    return { ...rest, name };
  }
  return {
    type: "function",
    name,
    description: [tool.description, formatNote(tool.format)].filter(Boolean).join("\n\n"),
    parameters: {
      type: "object",
      properties: { [INPUT]: { type: "string", description: "The whole input of the tool, as plain text." } },
      required: [INPUT],
      additionalProperties: false,
    },
  };
}

function shortenNames(chat: ChatRequest, names: NameTable): ChatRequest {
  const plain = (one: { name: string; namespace?: string }) =>
    one.namespace === undefined && !NAME_LEGAL.test(one.name) ? { name: names.flat(one.name, undefined) } : {};
  return {
    ...chat,
    tools: chat.tools.map((tool) => (tool.type === "function" ? { ...tool, ...plain(tool) } : tool)),
    messages: chat.messages.map((message) =>
      message.role === "assistant"
        ? {
            ...message,
            content: message.content.map((part) =>
              part.type === "tool-call" && part.kind === "function" ? { ...part, ...plain(part) } : part,
            ),
          }
        : message,
    ),
    ...(chat.toolChoice === undefined ? {} : { toolChoice: shortChoice(chat.toolChoice, names) }),
  };
}

function shortChoice(choice: ToolChoice, names: NameTable): ToolChoice {
  const short = (name: string) => (NAME_LEGAL.test(name) ? name : names.anyFlat(name));
  if (choice.type === "tool") return { ...choice, name: short(choice.name) };
  if (choice.type === "allowed") return { ...choice, names: choice.names.map(short) };
  return choice;
}

/** The grammar cannot be enforced here, so it is part of the description. */
function formatNote(format: CustomTool["format"]): string {
  if (typeof format?.["definition"] !== "string") return "";
  return `The input must follow this ${String(format["syntax"] ?? "")} grammar:\n${format["definition"]}`;
}

function flatMessage(message: ChatMessage, names: NameTable): ChatMessage {
  if (message.role === "tool") {
    const content = message.content.map(({ kind: _kind, ...part }) =>
      part.name === undefined ? part : { ...part, name: names.anyFlat(part.name) },
    );
    return { role: "tool", content };
  }
  if (message.role !== "assistant" || !message.content.some((part) => part.type === "tool-call")) return message;
  return {
    ...message,
    content: message.content.map((part) => (part.type === "tool-call" ? flatCall(part, names) : part)),
  };
}

function flatCall(part: ToolCallPart, names: NameTable): ToolCallPart {
  const { namespace, ...rest } = part;
  const name = names.flat(part.name, namespace);
  if (part.kind === "function") return { ...rest, name };
  return { ...rest, name, kind: "function", arguments: JSON.stringify({ [INPUT]: part.arguments }) };
}

function flatChoice(choice: ToolChoice, names: NameTable): ToolChoice {
  if (choice.type === "tool") return { type: "tool", name: names.anyFlat(choice.name) };
  if (choice.type === "allowed") return { ...choice, names: choice.names.map((name) => names.anyFlat(name)) };
  return choice;
}
