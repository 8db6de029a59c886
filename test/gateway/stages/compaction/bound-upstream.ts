// What an upstream checks that binds its thinking to the preceding history, as Anthropic's does.

import type { Received } from "../../../support/upstream.ts";

type Block = Record<string, unknown>;

/** A message as it reaches the upstream. */
export interface Message {
  role: string;
  content: string | Block[];
}

/** The messages of a request, without cache marks, which bind nothing. */
export function messagesOf({ json = {} }: Received): Message[] {
  return unmarked((json["messages"] ?? []) as Message[]);
}

/** What a block is bound to: instructions, tools and all messages before it. */
export function prefixOf(received: Received, count: number): string {
  const { system, tools } = received.json ?? {};
  return Bun.hash(JSON.stringify(unmarked([system, tools, messagesOf(received).slice(0, count)]))).toString(36);
}

/** Whether a message has thinking. */
export function hasThinking({ content }: Message): boolean {
  return Array.isArray(content) && content.some(({ type }) => type === "thinking");
}

/** The refusal of a request whose thinking was produced after a different history; undefined if there is none. */
export function refusalOf(received: Received): Response | undefined {
  const at = messagesOf(received).findIndex(
    ({ content }, index) =>
      Array.isArray(content) &&
      content.some(({ type, signature }) => type === "thinking" && signature !== `sig-${prefixOf(received, index)}`),
  );
  if (at < 0) return undefined;
  const message = `messages.${at}.content.0: Invalid signature in thinking block: it is bound to a different conversation`;
  return Response.json({ type: "error", error: { type: "invalid_request_error", message } }, { status: 400 });
}

/** The parameters with which each format's clients request thinking. */
export const THINKING = {
  "openai-chat": { reasoning_effort: "low" },
  "openai-responses": { reasoning: { effort: "low" } },
  "anthropic-messages": { thinking: { type: "adaptive" } },
} as const;

function unmarked<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (name, member) => (name === "cache_control" ? undefined : (member as unknown))),
  ) as T;
}
