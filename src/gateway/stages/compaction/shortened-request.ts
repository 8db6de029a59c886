// Builds a request with a shorter list of messages, and reports the shortening to the client.

import { ApiError } from "../../../base/errors.ts";
import { bytesOf } from "../../../base/long-json.ts";
import type { Usage } from "../../../chat/event.ts";
import type { ChatRequest } from "../../../chat/request.ts";
import type { Compactable, CompactableTurn } from "./compactable-turn.ts";
import type { Shortened } from "./compactor.ts";
import { DOCUMENT_TOKENS, type Sender } from "./measure.ts";
import type { Space } from "./space.ts";
import type { SummaryWork } from "./summarise.ts";

/**
 * Whether the size of a request alone shows that it has fewer tokens than this. A token has at least one byte. `ratio`: the model's
 * tokens per token counted by the gateway.
 */
export function isSurelyBelow({ text, members, chat }: CompactableTurn, tokens: number, ratio: number): boolean {
  // The gateway inserted stored history or files, which the client's text does not contain.
  if (members?.["messages"] !== undefined || members?.["input"] !== undefined) return false;
  if (text.length * ratio >= tokens) return false;
  const media = chat.messages.reduce((sum, { content }) => sum + content.filter(isMedia).length, 0);
  return (bytesOf(text) + media * DOCUMENT_TOKENS) * ratio < tokens;
}

/** Whether a request has images or files, whose tokens are only assumed. */
export function hasMedia({ messages }: ChatRequest): boolean {
  return messages.some(({ content }) => content.some(isMedia));
}

/** Whose request to which model. */
export function senderOf({ caller, model }: Pick<CompactableTurn, "caller" | "model">): Sender {
  return { accountId: caller.accountId, model: model.id };
}

function isMedia({ type }: { type: string }): boolean {
  return type === "image" || type === "file";
}

/** The request as it was before shortening, with all of the client's messages. */
export function wholeOf<J extends Pick<CompactableTurn, "compactable">>(admitted: J): J | CompactableTurn {
  const { shortened, edited } = admitted.compactable ?? {};
  return shortened?.original ?? edited?.original ?? admitted;
}

/** Reports a compaction in the response header and in the log line. */
export function note(
  { exchange }: Pick<CompactableTurn, "exchange">,
  { action, before, after }: Pick<Shortened, "action" | "before" | "after">,
): void {
  exchange.headers["x-sallyport-compaction"] = `${action}; before=${before}; after=${after}`;
  exchange.log["compaction"] = `${action} ${before}>${after}`;
}

/** The request with a shorter list of messages. `more`: further members of the conversation's state. */
export function withList(
  admitted: CompactableTurn,
  short: Pick<Shortened, "list" | "strippedCalls" | "counted">,
  { isAfterOverflow, ...more }: { isAfterOverflow: boolean } & Partial<Compactable>,
): CompactableTurn {
  const { format, chat } = admitted;
  const member = format.entries?.member ?? "messages";
  const members = admitted.members === undefined ? undefined : { ...admitted.members, [member]: short.list };
  const body: Record<string, unknown> = { ...admitted.body, ...admitted.members, [member]: short.list };
  for (const [name, value] of Object.entries(body)) if (value === undefined) delete body[name];
  const read = format.decode(body, admitted.options);
  return {
    ...admitted,
    chat: { ...read, ...(chat.store === undefined ? {} : { store: chat.store }) },
    members,
    reasoningRemoved: true,
    strippedCalls: short.strippedCalls,
    compactable: {
      threadId: admitted.compactable?.threadId,
      keeps: admitted.compactable?.keeps,
      since: admitted.compactable?.since,
      ...more,
      shortened: {
        original: admitted,
        strippedCalls: short.strippedCalls,
        counted: short.counted,
        isAfterOverflow,
      },
    },
  };
}

/** The request without a certain top-level member of its body. */
export function withoutMember(admitted: CompactableTurn, name: string): CompactableTurn {
  const { [name]: _chat, ...extra } = admitted.chat.extra;
  const members = admitted.members === undefined ? undefined : { ...admitted.members, [name]: undefined };
  return { ...admitted, chat: { ...admitted.chat, extra }, members };
}

/** The error for a request that cannot be shortened enough. */
export function doesNotFit(admitted: CompactableTurn, { after }: Shortened, { window }: Space): ApiError {
  const message = `Even when shortened, this conversation takes about ${after} tokens, and the context of "${admitted.model.id}" has ${window}. Shorten its longest messages.`;
  return new ApiError("context_length_exceeded", message, {
    details: { input_tokens: after, context_window: window },
  });
}

/** The same summary calls, which add their usage to `usage`. */
export function withCountedUsage(work: SummaryWork, usage: Usage): SummaryWork {
  return {
    ...work,
    ask: async (prompt, maxTokens) => {
      const answer = await work.ask(prompt, maxTokens);
      usage.inputTokens += answer.usage?.inputTokens ?? 0;
      usage.outputTokens += answer.usage?.outputTokens ?? 0;
      return answer;
    },
  };
}
