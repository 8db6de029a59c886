// A request with a shorter list of messages, and what its client is told of it.

import { ApiError } from "../../base/errors.ts";
import type { Usage } from "../../chat/event.ts";
import type { AdmittedRequest, ConversationJob } from "../chat-exchange.ts";
import type { Shortened } from "./compactor.ts";
import type { Space } from "./space.ts";
import type { SummaryWork } from "./summarise.ts";

/** Characters of a request that go up. */
export function lengthOf({ text, members }: AdmittedRequest): number {
  const { messages, input } = members ?? {};
  // Stored history and files came from here: the text does not hold them.
  if (messages === undefined && input === undefined) return text.length;
  return text.length + JSON.stringify(messages ?? input).length;
}

/** The request with all of the client's messages. */
export function wholeOf<J extends Pick<AdmittedRequest, "conversation">>(job: J): J | AdmittedRequest {
  const { shortened, edited } = job.conversation ?? {};
  return shortened?.job ?? edited?.job ?? job;
}

/** Says what was done, in the response header and the log. */
export function note(
  { exchange }: AdmittedRequest,
  { action, before, after }: Pick<Shortened, "action" | "before" | "after">,
): void {
  exchange.headers["x-sallyport-compaction"] = `${action}; before=${before}; after=${after}`;
  exchange.log["compaction"] = `${action} ${before}>${after}`;
}

/** The job with a shorter list of messages. `more`: what else is known of its conversation. */
export function withList(
  job: AdmittedRequest,
  short: Pick<Shortened, "list" | "strippedCalls" | "counted">,
  { atWall, ...more }: { atWall: boolean } & Partial<ConversationJob>,
): AdmittedRequest {
  const { format, chat } = job;
  const member = format.entries?.member ?? "messages";
  const members = job.members === undefined ? undefined : { ...job.members, [member]: short.list };
  const body: Record<string, unknown> = { ...job.body, ...job.members, [member]: short.list };
  for (const [name, value] of Object.entries(body)) if (value === undefined) delete body[name];
  const read = format.decode(body, job.options);
  return {
    ...job,
    chat: { ...read, ...(chat.store === undefined ? {} : { store: chat.store }) },
    members,
    conversation: {
      threadId: job.conversation?.threadId,
      keeps: job.conversation?.keeps,
      since: job.conversation?.since,
      ...more,
      shortened: { job, strippedCalls: short.strippedCalls, counted: short.counted, atWall },
    },
  };
}

/** The job without a top-level member of the client's. */
export function withoutMember(job: AdmittedRequest, name: string): AdmittedRequest {
  const { [name]: _chat, ...extra } = job.chat.extra;
  const members = job.members === undefined ? undefined : { ...job.members, [name]: undefined };
  return { ...job, chat: { ...job.chat, extra }, members };
}

/** The refusal of what cannot be made any shorter. */
export function doesNotFit(job: AdmittedRequest, { after }: Shortened, { window }: Space): ApiError {
  const message = `What has to stay of this conversation takes about ${after} tokens, and the context of "${job.model.id}" has ${window}.`;
  return new ApiError("context_length_exceeded", message, {
    details: { input_tokens: after, context_window: window },
  });
}

/** The same work; what its answers cost is added up in `usage`. */
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
