// The name under which an answer is kept: a hash of everything that determines it. The body is written in one canonical form
// (RFC 8785: members sorted by name, no white space), so that equal requests have one name.

import { isRecord } from "../../../base/json-object.ts";
import type { ChatRequest } from "../../../chat/request.ts";
import type { BodyMembers } from "../../centre/stage.ts";

/** What determines an answer. */
export interface KeyParts {
  /** Who may get it: an account, or a key. */
  readonly holder: string;
  readonly path: string;
  /** The resolved model. */
  readonly model: string;
  /** The client's `anthropic-beta`. */
  readonly betas: string;
  /** The text of the body as the client wrote it. */
  readonly text: string;
  /** The body with what the gateway inserted. */
  readonly content: BodyMembers;
  /** The conversation in it, in which tool calls have ids. */
  readonly messages: ChatRequest["messages"];
}

/** Members that do not change what a model answers. */
const IRRELEVANT: ReadonlySet<string> = new Set([
  "model",
  "stream",
  "stream_options",
  "user",
  "metadata",
  "store",
  "prompt_cache_key",
  "safety_identifier",
]);

/** The members that hold the ids of tool calls, in all formats. */
const ID_MEMBERS: ReadonlySet<string> = new Set(["id", "call_id", "tool_call_id", "tool_use_id"]);

/** The name of a request's answer. */
export function cacheKey(parts: KeyParts): string {
  const { holder, path, model, betas, text, content, messages } = parts;
  const hasher = new Bun.CryptoHasher("sha256");
  hasher.update(JSON.stringify([holder, path, model, betas, unusualNumbers(text)]));
  const ids = callNumbers(messages);
  for (const name of Object.keys(content).sort()) {
    if (IRRELEVANT.has(name) || content[name] === undefined) continue;
    hasher.update(`${JSON.stringify(name)}:${canonicalJson(content[name], ids)},`);
  }
  return hasher.digest("base64url");
}

/** Numbers the ids of tool calls in their order, since clients and providers make them at random. */
function callNumbers(messages: ChatRequest["messages"]): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  for (const { content } of messages) {
    for (const part of content) {
      if (part.type !== "tool-call") continue;
      for (const id of [part.callId, part.itemId])
        if (id !== undefined && !ids.has(id)) ids.set(id, `\u0000${ids.size}`);
    }
  }
  return ids;
}

/** A JSON value in canonical form, with the ids of tool calls as given. The depth is that of a body, which is limited. */
export function canonicalJson(value: unknown, ids?: ReadonlyMap<string, string>): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null, ids)).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? "null";
  const members = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    // By UTF-16 code units, as RFC 8785 demands.
    .sort()
    .map((name) => {
      const member = value[name];
      const number = typeof member === "string" && ID_MEMBERS.has(name) ? ids?.get(member) : undefined;
      return `${JSON.stringify(name)}:${number === undefined ? canonicalJson(member, ids) : JSON.stringify(number)}`;
    });
  return `{${members.join(",")}}`;
}

const QUOTE = 34;
const BACKSLASH = 92;
const NUMBER = /-?\d[\d.eE+-]*/y;

/** The numbers of a JSON text that a program may write otherwise than they stand: two of them may have one value once they are read. */
export function unusualNumbers(text: string): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === 45 || (code >= 48 && code <= 57)) {
      NUMBER.lastIndex = at;
      const number = NUMBER.exec(text)?.[0] ?? "";
      if (String(Number(number)) !== number) found.push(number);
      at += Math.max(0, number.length - 1);
    }
  }
  return found;
}

/** The position of the closing quote. */
function endOfString(text: string, start: number): number {
  let from = start + 1;
  for (;;) {
    const end = text.indexOf('"', from);
    if (end === -1) return text.length;
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((end - before) % 2 === 1) return end;
    from = end + 1;
  }
}
