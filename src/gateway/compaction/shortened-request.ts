// A request with a shorter list of messages, and what its client is told about it.

import { ApiError } from "../../base/errors.ts";
import type { Usage } from "../../chat/event.ts";
import type { AdmittedRequest, ConversationState } from "../chat-exchange.ts";
import type { Shortened } from "./compactor.ts";
import type { Space } from "./space.ts";
import type { SummaryWork } from "./summarise.ts";

/** Characters of a request as sent upstream. */
export function lengthOf({ text, members }: AdmittedRequest): number {
  const { messages, input } = members ?? {};
  // Stored history and files were added here: the client's text does not contain them.
  if (messages === undefined && input === undefined) return text.length;
  return text.length + JSON.stringify(messages ?? input).length;
}

/** The request with all of the client's messages. */
export function wholeOf<J extends Pick<AdmittedRequest, "conversation">>(admitted: J): J | AdmittedRequest {
  const { shortened, edited } = admitted.conversation ?? {};
  return shortened?.original ?? edited?.original ?? admitted;
}

/** Reports what was done, in the response header and the log. */
export function note(
  { exchange }: AdmittedRequest,
  { action, before, after }: Pick<Shortened, "action" | "before" | "after">,
): void {
  exchange.headers["x-sallyport-compaction"] = `${action}; before=${before}; after=${after}`;
  exchange.log["compaction"] = `${action} ${before}>${after}`;
}

/** The request with a shorter list of messages. `more`: further state of its conversation. */
export function withList(
  admitted: AdmittedRequest,
  short: Pick<Shortened, "list" | "strippedCalls" | "counted">,
  { atWall, ...more }: { atWall: boolean } & Partial<ConversationState>,
): AdmittedRequest {
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
    conversation: {
      threadId: admitted.conversation?.threadId,
      keeps: admitted.conversation?.keeps,
      since: admitted.conversation?.since,
      ...more,
      shortened: { original: admitted, strippedCalls: short.strippedCalls, counted: short.counted, atWall },
    },
  };
}

/** The request without a top-level member of the client's. */
export function withoutMember(admitted: AdmittedRequest, name: string): AdmittedRequest {
  const { [name]: _chat, ...extra } = admitted.chat.extra;
  const members = admitted.members === undefined ? undefined : { ...admitted.members, [name]: undefined };
  return { ...admitted, chat: { ...admitted.chat, extra }, members };
}

/** The error if a request cannot be shortened further. */
export function doesNotFit(admitted: AdmittedRequest, { after }: Shortened, { window }: Space): ApiError {
  const message = `What has to stay of this conversation takes about ${after} tokens, and the context of "${admitted.model.id}" has ${window}.`;
  return new ApiError("context_length_exceeded", message, {
    details: { input_tokens: after, context_window: window },
  });
}

/** The same summary calls; their usage is added up in `usage`. */
export function withCountedUsage(work: SummaryWork, usage: Usage): SummaryWork {
  return {
    ...work,
    ask: async (prompt, maxTokens) => {
      const said = await work.ask(prompt, maxTokens);
      usage.inputTokens += said.usage?.inputTokens ?? 0;
      usage.outputTokens += said.usage?.outputTokens ?? 0;
      return said;
    },
  };
}
