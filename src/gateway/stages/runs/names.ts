// By what the requests of an agent run are recognised: what the client says in headers or in its body, or else the conversation.

import type { ChatMessage } from "../../../chat/request.ts";
import type { ChatTurn } from "../../centre/stage.ts";

/**
 * Headers that name a run, the most certain first. Codex sends the session, which its sub-agents share, beside the thread
 * (openai/codex, codex-rs/codex-api/src/requests/headers.rs); older versions wrote `session_id`.
 */
const HEADERS = ["x-sallyport-run", "x-claude-code-session-id", "session-id", "session_id", "thread-id"];

/** Names are kept in memory, and a client may write anything. The store keeps as many characters. */
const NAME_CHARS = 250;

/** The run that the headers name; undefined for most requests. */
export function runInHeaders({ asker }: { readonly asker: Pick<ChatTurn["asker"], "header"> }): string | undefined {
  for (const name of HEADERS) {
    const value = asker.header(name);
    if (value !== null && value !== "") return `${name}: ${value}`.slice(0, NAME_CHARS);
  }
  return undefined;
}

/** Clients that put their conversation into a member of the body, by their User-Agent. Others put anything there. */
const CODEX = /^codex[_-]/i;
const CLAUDE_CODE = /^claude-cli\//i;

/** What names the conversation of a request whose headers name no run. */
export function conversationOf(turn: Pick<ChatTurn, "chat" | "body" | "options">): string {
  return wholeName(turn).slice(0, NAME_CHARS);
}

function wholeName({ chat, body, options }: Pick<ChatTurn, "chat" | "body" | "options">): string {
  const { userAgent = "" } = options;
  const cacheKey = body["prompt_cache_key"];
  if (CODEX.test(userAgent) && isNamed(cacheKey)) return `prompt_cache_key: ${cacheKey}`;
  if (CLAUDE_CODE.test(userAgent) && isNamed(chat.user)) return `metadata.user_id: ${hashOf(chat.user)}`;
  const stored = chat.threadId ?? idOf(body["conversation"]);
  if (isNamed(stored)) return `conversation: ${stored}`;
  return `opening: ${openingOf(chat.messages)}`;
}

/** A fingerprint of the beginning that all turns of a conversation share: up to the first message of the user. */
function openingOf(messages: readonly ChatMessage[]): string {
  const texts: string[] = [];
  for (const { role, content } of messages) {
    texts.push(role);
    for (const part of content) if (part.type === "text") texts.push(part.text);
    if (role === "user") break;
  }
  return hashOf(texts.join("\u0000"));
}

function hashOf(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 32);
}

function idOf(conversation: unknown): unknown {
  return typeof conversation === "object" && conversation !== null && "id" in conversation
    ? conversation.id
    : conversation;
}

function isNamed(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
