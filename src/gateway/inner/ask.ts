// Gets one complete model answer for the gateway's own use, for which a caller pays. The call goes through the model's routes
// like any request, with its budgets and breakers, and has a usage row of its own.

import type { CatalogModel, ModelRoute } from "../../catalog/models.ts";
import type { Usage } from "../../chat/event.ts";
import { fold } from "../../chat/fold.ts";
import type { ChatMessage, ChatRequest, ResponseFormat } from "../../chat/request.ts";
import type { Reservation } from "../../shared-state/reservations.ts";
import type { Caller } from "../admission/caller.ts";
import type { EndUsers } from "../admission/end-users.ts";
import type { LabelHolder } from "../usage/labels.ts";
import type { InnerDeps } from "./inner-answer.ts";

export interface ModelCallDeps extends Omit<InnerDeps, "endUserOf"> {
  /** The name of a caller for a provider that is told who its requests are from; absent: there are no users. */
  endUserOf?: EndUsers;
}

/** A request to a model. */
export interface Prompt {
  model: CatalogModel;
  routes: readonly ModelRoute[];
  system: string;
  user: string;
  /** Further turns, oldest first, each with an answer of the model and the reply to it. */
  turns?: readonly { readonly said: string; readonly reply: string }[];
  /** The schema of the answer. Models without a parameter for it get it in the prompt. */
  responseFormat?: ResponseFormat;
  maxTokens: number;
}

/** The caller that pays, and the request for which the call is made. */
export interface Payer {
  caller: Caller;
  requestId: string;
  endpoint: string;
  /** What reports group the request by; absent: its caller alone. */
  labels?: LabelHolder;
  /** The caller's budget reservation, which includes this call. */
  reservation?: Reservation | undefined;
}

/** The model's answer. */
export interface ModelAnswer {
  text: string;
  /** False if the answer was cut off by an output limit. */
  whole: boolean;
  usage: Usage;
}

/** Output tokens added for reasoning models, whose limit includes the reasoning. */
const REASONING_TOKENS = 8192;

/** Asks a model. Throws `ApiError` if no route answers, or if the caller's budgets do not allow the call. */
export async function askModel(
  deps: ModelCallDeps,
  question: Prompt,
  { payer, timeoutMs, stopping }: { payer: Payer; timeoutMs: number; stopping: AbortSignal },
): Promise<ModelAnswer> {
  const { model, routes } = question;
  const maxTokens = question.maxTokens + (model.supportsReasoning ? REASONING_TOKENS : 0);
  const chat: ChatRequest = {
    model: model.id,
    messages: messagesOf(question),
    stream: false,
    includeUsage: false,
    tools: [],
    maxTokens: Math.min(maxTokens, model.known.maxOutputTokens ? model.maxOutputTokens : maxTokens),
    ...(question.responseFormat === undefined ? {} : { responseFormat: question.responseFormat }),
    extra: {},
  };
  const deadlineMs = performance.now() + timeoutMs;
  const deadline = {
    signal: AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]),
    remainingMs: () => deadlineMs - performance.now(),
  };
  const calls = { ...deps, endUserOf: deps.endUserOf ?? (() => undefined) };
  // Few requests need it.
  const { innerAnswer } = await import("./inner-answer.ts");
  const { events, usage } = await innerAnswer(calls, { model, routes, chat }, { of: payer, deadline, isCall: true });
  const choice = fold(events).choices[0];
  const texts = choice?.blocks.flatMap((block) =>
    block.type === "text" && block.refusal !== true ? [block.text] : [],
  );
  return { text: (texts ?? []).join("\n"), whole: choice?.reason === "stop", usage };
}

function messagesOf({ system, user, turns = [] }: Prompt): ChatMessage[] {
  const message = (role: "system" | "user" | "assistant", text: string): ChatMessage => ({
    role,
    content: [{ type: "text", text }],
  });
  return [
    message("system", system),
    message("user", user),
    ...turns.flatMap(({ said, reply }) => [message("assistant", said), message("user", reply)]),
  ];
}
