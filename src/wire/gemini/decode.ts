// Reads requests of Gemini's API. Its calls of functions need no ids, so those that have none are numbered, and each response belongs to
// the earliest call of its function that has none yet.

import { isRecord } from "../../base/json-object.ts";
import type {
  AssistantContent,
  ChatMessage,
  ChatRequest,
  FunctionTool,
  MediaSource,
  OpaquePart,
  Tool,
  ToolChoice,
  ToolResultPart,
  UserContent,
} from "../../chat/request.ts";
import * as check from "../check.ts";
import { typedPart, typedResult } from "../media-parts.ts";
import { OpenCalls } from "../open-calls.ts";
import { callSeal, fromCarried } from "../seal-envelopes.ts";
import { wantsCost } from "../usage-wish.ts";
import { GEMINI_FIELDS, geminiFormatOf } from "./fields.ts";
import { toJsonSchema } from "./json-schema.ts";
import { fromSignature, GEMINI_ORIGIN } from "./seals.ts";

/** Reads a body. Its model and whether it is streamed come from the address. */
export function decodeGemini(body: check.Fields): ChatRequest {
  const head = readHead(body);
  const reader = new ContentReader(body["contents"]);
  while (reader.next());
  return withRest(body, head, reader.messages);
}

/** The same, and calls `pause` after each content. */
export async function decodeGeminiInSteps(
  body: check.Fields,
  _options: unknown,
  pause: () => Promise<void> | undefined,
): Promise<ChatRequest> {
  const head = readHead(body);
  const reader = new ContentReader(body["contents"]);
  while (reader.next()) {
    const wait = pause();
    if (wait !== undefined) await wait;
  }
  return withRest(body, head, reader.messages);
}

/** What is read before the contents. */
function readHead(body: check.Fields) {
  const tools = oneOrMore(body["tools"], "tools").flatMap(([tool, at]) => readTool(tool, at));
  return {
    tools,
    model: check.need(body, "model", check.expectText),
    stream: check.maybe(body, "stream", check.expectBoolean) ?? false,
    system: readSystem(body["systemInstruction"]),
  };
}

function withRest(
  body: check.Fields,
  { tools, model, stream, system }: ReturnType<typeof readHead>,
  messages: readonly ChatMessage[],
): ChatRequest {
  return {
    model,
    stream,
    includeUsage: true,
    messages: [...system, ...messages],
    tools,
    ...GEMINI_FIELDS.read(body),
    ...check.given({
      includeCost: wantsCost(body),
      toolChoice: readChoice(body),
      responseFormat: geminiFormatOf(body, toJsonSchema),
    }),
    extra: check.remaining(body, GEMINI_FIELDS.known),
  };
}

type Placed = readonly [fields: check.Fields, path: string];

/** The objects of a list, or a single one, which Google's API takes in place of a list. */
function oneOrMore(value: unknown, path: string): Placed[] {
  if (value === undefined || value === null) return [];
  if (isRecord(value)) return [[value, path]];
  return check.expectList(value, path).map((one, i) => {
    const at = check.at(path, i);
    return [check.expectFields(one, at), at];
  });
}

function readSystem(value: unknown): ChatMessage[] {
  if (value === undefined || value === null) return [];
  const path = "systemInstruction";
  const texts =
    typeof value === "string"
      ? [value]
      : oneOrMore(check.expectFields(value, path)["parts"], `${path}.parts`).map(([part, at]) =>
          check.need(part, "text", check.expectString, at),
        );
  const content = texts.filter((text) => text !== "").map((text) => ({ type: "text" as const, text }));
  return content.length === 0 ? [] : [{ role: "system", content }];
}

/** Reads the contents one by one. */
class ContentReader {
  readonly messages: ChatMessage[] = [];
  readonly #contents: readonly Placed[];
  readonly #calls = new Calls();
  #at = 0;

  constructor(value: unknown) {
    this.#contents = oneOrMore(value, "contents");
    if (this.#contents.length === 0) check.reject("contents", "Invalid 'contents': expected at least one content.");
  }

  /** Reads the next content. False if there is none. */
  next(): boolean {
    const placed = this.#contents[this.#at++];
    if (placed === undefined) return false;
    const [content, at] = placed;
    const role = check.maybe(content, "role", check.expectOneOf("user", "model", "function", "tool"), at) ?? "user";
    const parts = oneOrMore(content["parts"], `${at}.parts`);
    if (role === "model") {
      // Answers may be empty, and clients send them back.
      addAnswered(this.messages, parts, this.#calls);
    } else if (parts.length === 0) {
      check.reject(`${at}.parts`, `Invalid '${at}.parts': expected at least one part.`);
    } else for (const [part, where] of parts) addGiven(this.messages, readGiven(part, where, this.#calls));
    this.#calls.turnEnded();
    return true;
  }
}

/** The calls of a conversation. */
class Calls {
  readonly open = new OpenCalls();
  #count = 0;
  #turn: { callId: string; name: string }[] = [];

  newId(): string {
    return `call_${this.#count++}`;
  }

  add(call: { callId: string; name: string }): void {
    this.#turn.push(call);
  }

  turnEnded(): void {
    this.open.add(this.#turn);
    this.#turn = [];
  }
}

/** Adds what a model said. A stream leaves a content for each of its pieces. */
function addAnswered(messages: ChatMessage[], parts: readonly Placed[], calls: Calls): void {
  const last = messages.at(-1);
  const content = last?.role === "assistant" ? last.content : [];
  const reader = new AnsweredReader(content, calls);
  for (const [part, where] of parts) reader.push(part, where);
  reader.end();
  if (content.length > 0 && last?.content !== content) messages.push({ role: "assistant", content });
}

/** Adds what a user or a tool said. The order is kept. */
function addGiven(messages: ChatMessage[], part: UserContent | ToolResultPart): void {
  const last = messages.at(-1);
  if (part.type === "tool-result") {
    if (last?.role === "tool") last.content.push(part);
    else messages.push({ role: "tool", content: [part] });
  } else if (last?.role === "user") last.content.push(part);
  else messages.push({ role: "user", content: [part] });
}

function readGiven(part: check.Fields, path: string, calls: Calls): UserContent | ToolResultPart {
  const response = check.maybe(part, "functionResponse", check.expectFields, path);
  if (response !== undefined) return readResponse(response, `${path}.functionResponse`, calls);
  const text = check.maybe(part, "text", check.expectString, path);
  if (text !== undefined) return { type: "text", text };
  const file = readMedia(part, path);
  if (file !== undefined) return typedPart(file);
  if (part["functionCall"] != null) {
    return check.reject(path, `Invalid '${path}': a functionCall is only allowed in a content with the role model.`);
  }
  return opaque(part, path);
}

/** Reads what a model said. Streams leave a text and a thought in pieces, which become one part again. */
class AnsweredReader {
  readonly #content: AssistantContent[];
  readonly #calls: Calls;
  /** The thought so far, whose signature may follow. */
  #thought = "";

  constructor(content: AssistantContent[], calls: Calls) {
    this.#content = content;
    this.#calls = calls;
  }

  push(part: check.Fields, path: string): void {
    const signature = check.maybe(part, "thoughtSignature", check.expectString, path) ?? "";
    const text = check.maybe(part, "text", check.expectString, path);
    if (text !== undefined && part["thought"] === true) {
      this.#thought += text;
      if (signature !== "") this.end(signature);
      return;
    }
    this.end();
    const call = check.maybe(part, "functionCall", check.expectFields, path);
    if (call !== undefined) {
      this.#content.push(readCall(call, `${path}.functionCall`, { signature, calls: this.#calls }));
      return;
    }
    if (text === undefined) this.#content.push(this.#other(part, path));
    else this.#text(text);
    // The signature on a text is that of the thinking before it.
    if (signature !== "") this.#content.push(...reasoningOf("", signature));
  }

  /** Ends a thought, with its signature if it has one. */
  end(signature = ""): void {
    this.#content.push(...reasoningOf(this.#thought, signature));
    this.#thought = "";
  }

  #text(text: string): void {
    const last = this.#content.at(-1);
    if (last?.type === "text") last.text += text;
    else if (text !== "") this.#content.push({ type: "text", text });
  }

  /** Of the files of an answer, the neutral form has pictures only. */
  #other(part: check.Fields, path: string): AssistantContent {
    const file = readMedia(part, path);
    return file?.type === "image" ? { type: file.type, source: file.source } : opaque(withoutSignature(part), path);
  }
}

function withoutSignature({ thoughtSignature: _signature, ...part }: check.Fields): check.Fields {
  return part;
}

function reasoningOf(text: string, signature: string): AssistantContent[] {
  const carried = signature === "" ? undefined : fromSignature(signature);
  if (carried !== undefined) {
    const { callId: _call, ...part } = fromCarried(text, carried);
    return [part];
  }
  if (signature !== "") return [{ type: "reasoning", text, signature, origin: GEMINI_ORIGIN }];
  return text === "" ? [] : [{ type: "reasoning", text }];
}

function readCall(
  call: check.Fields,
  path: string,
  { signature, calls }: { signature: string; calls: Calls },
): AssistantContent {
  const name = check.need(call, "name", check.expectText, path);
  const callId = check.maybe(call, "id", check.expectString, path) || calls.newId();
  calls.add({ callId, name });
  const carried = signature === "" ? undefined : fromSignature(signature);
  const seal =
    carried === undefined ? check.given({ signature: signature || undefined }) : callSeal(fromCarried("", carried));
  return {
    type: "tool-call",
    callId,
    name,
    kind: "function",
    arguments: JSON.stringify(check.maybe(call, "args", check.expectFields, path) ?? {}),
    ...seal,
  };
}

function readResponse(response: check.Fields, path: string, calls: Calls): ToolResultPart {
  const name = check.need(response, "name", check.expectText, path);
  const id = check.maybe(response, "id", check.expectString, path) || undefined;
  const callId = id ?? calls.open.take(undefined, name)?.callId;
  if (callId === undefined) {
    return check.reject(path, `Invalid '${path}': no functionCall of '${name}' precedes it, or each has its response.`);
  }
  if (id !== undefined) calls.open.take(id, undefined);
  const { text, isError } = textOf(check.maybe(response, "response", check.expectFields, path) ?? {});
  const media = oneOrMore(response["parts"], `${path}.parts`).map(([part, at]) => {
    const file = readMedia(part, at);
    return file === undefined ? opaque(part, at) : typedResult(file);
  });
  return {
    type: "tool-result",
    callId,
    name,
    content: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...media],
    ...(isError ? { isError } : {}),
  };
}

/** The text of a response. Google's clients put it into `output`, `result` or `error`. */
function textOf(response: check.Fields): { text: string; isError: boolean } {
  const names = Object.keys(response);
  const [name = ""] = names;
  const isOne = names.length === 1 && (name === "output" || name === "result" || name === "error");
  const value = isOne ? response[name] : response;
  return {
    text: typeof value === "string" ? value : JSON.stringify(value ?? null),
    isError: isOne && name === "error",
  };
}

/** The file of a part, whose type says what it is. */
function readMedia(part: check.Fields, path: string) {
  const inline = check.maybe(part, "inlineData", check.expectFields, path);
  if (inline !== undefined) {
    const at = `${path}.inlineData`;
    const mediaType = check.need(inline, "mimeType", check.expectText, at).toLowerCase();
    return fileOf(mediaType, { kind: "base64", mediaType, data: check.need(inline, "data", check.expectText, at) });
  }
  const linked = check.maybe(part, "fileData", check.expectFields, path);
  if (linked === undefined) return undefined;
  const at = `${path}.fileData`;
  const uri = check.need(linked, "fileUri", check.expectText, at);
  const mediaType = check.maybe(linked, "mimeType", check.expectString, at) ?? "";
  return fileOf(mediaType, /^https?:/.test(uri) ? { kind: "url", url: uri } : { kind: "file", fileId: uri });
}

function fileOf(mediaType: string, source: MediaSource) {
  return { type: mediaType.startsWith("image/") ? ("image" as const) : ("file" as const), source };
}

function opaque(part: check.Fields, path: string): OpaquePart {
  if (Object.keys(part).length === 0) {
    check.reject(path, `Invalid '${path}': expected a part with text, data, a functionCall or a functionResponse.`);
  }
  return { type: "opaque", origin: GEMINI_ORIGIN, value: part };
}

/** The functions of a tool, and the tools that the provider runs, each under its member's name. */
function readTool(tool: check.Fields, path: string): Tool[] {
  return Object.entries(tool).flatMap(([name, value]): Tool[] => {
    if (value === undefined || value === null) return [];
    if (name !== "functionDeclarations") {
      return [{ type: "server", origin: GEMINI_ORIGIN, name, value: { [name]: value } }];
    }
    return oneOrMore(value, `${path}.${name}`).map(([declared, at]) => readFunction(declared, at));
  });
}

function readFunction(declared: check.Fields, path: string): FunctionTool {
  const own = check.maybe(declared, "parameters", check.expectFields, path);
  const schema = check.maybe(declared, "parametersJsonSchema", check.expectFields, path);
  return {
    type: "function",
    name: check.need(declared, "name", check.expectText, path),
    ...check.given({
      description: check.maybe(declared, "description", check.expectString, path),
      parameters: schema ?? (own && toJsonSchema(own)),
    }),
  };
}

function readChoice(body: check.Fields): ToolChoice | undefined {
  const config = check.maybe(body, "toolConfig", check.expectFields);
  const calling = config && check.maybe(config, "functionCallingConfig", check.expectFields, "toolConfig");
  if (calling === undefined) return undefined;
  const path = "toolConfig.functionCallingConfig";
  const expectNames = check.expectListOf(check.expectText);
  const names = check.maybe(calling, "allowedFunctionNames", expectNames, path) ?? [];
  const mode = (check.maybe(calling, "mode", check.expectString, path) ?? "AUTO").toUpperCase();
  switch (mode) {
    case "MODE_UNSPECIFIED":
    case "AUTO":
    case "VALIDATED":
      return names.length > 0 ? { type: "allowed", mode: "auto", names } : { type: "auto" };
    case "NONE":
      return { type: "none" };
    case "ANY":
      if (names.length === 0) return { type: "required" };
      return names.length === 1 ? { type: "tool", name: names[0]! } : { type: "allowed", mode: "required", names };
    default:
      return check.reject(
        `${path}.mode`,
        `Invalid '${path}.mode': expected 'AUTO', 'ANY', 'NONE' or 'VALIDATED', got '${mode.slice(0, 100)}'.`,
      );
  }
}
