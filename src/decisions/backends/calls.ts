// Connects a version to its upstreams. Each call is tried on the version's routes, as plain JSON or as a chat in the provider's
// protocol. Failures are reported as the gateway reports those of chats.

import { ApiError } from "../../base/errors.ts";
import { isRecord } from "../../base/json-object.ts";
import { spliceMembers } from "../../base/json-splice.ts";
import { fold } from "../../chat/fold.ts";
import type { ChatResult } from "../../chat/result.ts";
import type { ProviderConfig } from "../../config/schema.ts";
import type { AttemptEnd, CallTrace } from "../../gateway/calls/route-call.ts";
import { faultOfReading } from "../../gateway/rules/policy.ts";
import type { Permit } from "../../upstream/breaker.ts";
import { network } from "../../upstream/configure.ts";
import type { Dialect, UpstreamRequest } from "../../upstream/dialect.ts";
import { dialectFor } from "../../upstream/dialect-choice.ts";
import { endUserScope } from "../../upstream/end-user.ts";
import { UpstreamFault } from "../../upstream/fault.ts";
import { CredentialPool, type Provider } from "../../upstream/provider.ts";
import { decisionCard } from "../../upstream/providers/index.ts";
import { kindFacts } from "../../vendors/protocols.ts";
import { decisionFault } from "../faults.ts";
import {
  type BackendSpec,
  type DecisionRoute,
  NonsenseAnswer,
  type TextToken,
  totalUsage,
  type Upstream,
  usageIn,
} from "./backend.ts";

/** One attempt on a route. */
export interface CallTurn {
  readonly route: { readonly provider: string };
  readonly provider: Provider;
  readonly permit: Permit;
  /** Headers with the trace context for the provider. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called when the call has ended. */
  end(how: AttemptEnd): void;
}

export interface CallDeps {
  /** Runs `attempt` on the routes in order, with breakers and retries. Throws an `ApiError` if none succeeds. */
  tryRoutes<T>(
    routes: readonly DecisionRoute[],
    options: CallDeadline & { attempt(turn: CallTurn): Promise<T> },
  ): Promise<T>;
  /** Sends one request and returns the text of the whole answer. Throws `UpstreamFault`. */
  send(provider: Provider, request: UpstreamRequest, signal: AbortSignal): Promise<string>;
}

/** The time limit of all calls of a request together. */
export interface CallDeadline {
  readonly signal: AbortSignal;
  remainingMs(): number;
  /** How the calls are traced. */
  readonly trace?: CallTrace;
  /** The account that the calls are made for. */
  readonly account?: string;
  /** The name of the user for a provider that is told who its requests are from. */
  endUserOf?(provider: Provider): string | undefined;
  /** Whether the upstream names another version than the one that was asked for, whose answer is then not used. */
  isOther?(route: DecisionRoute, upstreamModel: string): boolean;
}

/** Opens the upstreams of a version for one request. */
export function upstreamOf(spec: BackendSpec, deps: CallDeps, deadline: CallDeadline): Upstream {
  const call = <T>(
    traced: Partial<CallTrace>,
    attempt: (turn: CallTurn, route: DecisionRoute) => Promise<{ answer: T; end?: Partial<AttemptEnd> }>,
  ) =>
    tryForUsableAnswer(deps.tryRoutes, spec.routes, {
      ...deadline,
      ...(deadline.trace === undefined ? {} : { trace: { ...deadline.trace, ...traced } }),
      remainingMs: () => deadline.remainingMs(),
      attempt: async (turn) => {
        const route = spec.routes.find((own) => own === turn.route) ?? spec.routes[0]!;
        const { answer, end } = await attempt(turn, route);
        turn.end({ outcome: "ok", label: "ok", ...end });
        return answer;
      },
    });
  return {
    post: (path, bodyFor, read) =>
      call({ operation: "decide" }, async ({ provider, headers }, route) => {
        const request = {
          path: route.path || path,
          headers: { ...headers },
          body: JSON.stringify(bodyFor(route, provider.card.decisions ?? {}, deadline.endUserOf?.(provider))),
          dropped: [],
        };
        const text = await deps.send(withDecisionFaults(provider), request, deadline.signal);
        const body = parse(text);
        const named = isRecord(body) && typeof body["model"] === "string" ? body["model"] : undefined;
        refuseOther(deadline, route, named);
        return { answer: understood({ body, route }, read), end: { usage: usageIn(body) } };
      }),
    chat: (requestFor, read, { tokens = [] } = {}) =>
      call({}, async ({ provider: named, headers }, route) => {
        const chat = requestFor(route);
        // If the operator configured a path, it determines the protocol.
        const provider = route.path ? named : dialectFor(named, route, chat);
        const request = provider.dialect.request(chat, {
          model: route.model,
          stream: false,
          quirks: provider.quirks,
          supportsReasoning: false,
          maxOutputTokens: chat.maxTokens ?? 1,
          endUser: deadline.endUserOf?.(provider),
          clientHeaders: {},
        });
        const path = route.path || request.path;
        const scored = tokens.length === 0 ? {} : scoringOf(provider, tokens);
        const body = spliceMembers(request.body, { ...withoutThinking(provider), ...scored });
        const text = await deps.send(
          provider,
          { ...request, path, body, headers: { ...request.headers, ...headers } },
          deadline.signal,
        );
        const result = resultOf(provider, text);
        const finishReason = result.choices[0]?.rawReason;
        const usage = totalUsage([result.usage]);
        refuseOther(deadline, route, result.upstreamModel);
        return { answer: understood({ result, route }, read), end: { usage, finishReason } };
      }),
    tokens: (text) =>
      call({}, async ({ provider }, route) => {
        // Each engine has its own names for parameters.
        const body = JSON.stringify({
          model: route.model,
          prompt: text,
          add_special_tokens: false,
          return_token_strs: true,
          content: text,
          with_pieces: true,
        });
        // The path is relative to the version segment of the API.
        const request = { path: "/../tokenize", headers: {}, body, dropped: [] };
        return { answer: readTokens(parse(await deps.send(provider, request, deadline.signal))) };
      }),
  };
}

/**
 * Parses the answer of a chat model. Throws `UpstreamFault` for a failure in it, so that the breaker is updated and other routes
 * are tried.
 */
function resultOf(provider: Provider, text: string): ChatResult {
  let result: ChatResult;
  try {
    result = fold(provider.dialect.events(parse(text)));
  } catch (error) {
    throw faultOfReading(error);
  }
  refuseRefusal(result);
  return result;
}

/** Throws `UpstreamFault` if the vendor or its model refused for the content: it is asked of nobody else then. */
function refuseRefusal({ choices: [choice] }: ChatResult): void {
  if (choice === undefined) return;
  const said = choice.blocks.flatMap((block) => (block.type === "text" && block.refusal ? [block.text] : [])).join("");
  if (said === "" && choice.reason !== "content_filter" && choice.reason !== "refusal") return;
  throw new UpstreamFault("refused", said || "The model refuses to answer this. Change it: it is refused again.");
}

/** Throws `UpstreamFault` if another version answered, so that the next route of the version is tried. */
function refuseOther(deadline: CallDeadline, route: DecisionRoute, upstreamModel: string | undefined): void {
  if (upstreamModel === undefined || deadline.isOther?.(route, upstreamModel) !== true) return;
  const cause = new NonsenseAnswer("Another version of the model answered.");
  throw new UpstreamFault("answer_invalid", cause.message, { cause });
}

/** Parses an answer within the attempt, so that the next route is tried if the answer is unusable. */
function understood<A, T>(answer: A, read: (answer: A) => T): T {
  try {
    return read(answer);
  } catch (error) {
    throw error instanceof NonsenseAnswer
      ? new UpstreamFault("answer_invalid", error.message, { cause: error })
      : error;
  }
}

/** Tries the routes. If none gave a usable answer, throws the backend's error. */
async function tryForUsableAnswer<T>(
  tryRoutes: CallDeps["tryRoutes"],
  routes: readonly DecisionRoute[],
  options: Parameters<typeof tryRoutes<T>>[1],
): Promise<T> {
  try {
    return await tryRoutes(routes, options);
  } catch (error) {
    const fault = error instanceof ApiError ? error.cause : undefined;
    throw fault instanceof UpstreamFault && fault.cause instanceof NonsenseAnswer ? fault.cause : error;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UpstreamFault("unavailable", "The provider's answer is not JSON.", { cause });
  }
}

/** Reads `{tokens:[{id,piece}]}` (llama.cpp) or `{tokens:[id],token_strs:[text]}` (vLLM). Throws `UpstreamFault`. */
function readTokens(body: unknown): TextToken[] {
  const { tokens, token_strs: texts } = isRecord(body) ? body : {};
  if (!Array.isArray(tokens))
    throw new UpstreamFault("unavailable", "The provider did not return the tokens of the text.");
  return tokens.flatMap((token: unknown, at) => {
    const [id, text] = isRecord(token)
      ? [token["id"], token["piece"]]
      : [token, Array.isArray(texts) ? (texts[at] as unknown) : undefined];
    return typeof id === "number" && typeof text === "string" ? [{ id, text }] : [];
  });
}

/** The parameter that tells an engine which tokens to score. */
function scoringOf({ card }: Provider, ids: readonly number[]): Readonly<Record<string, unknown>> {
  const shown = card.decisions?.shownTokens;
  return shown === undefined ? { logprob_token_ids: ids } : { top_logprobs: shown };
}

/** Decision endpoints have an error format of their own, whatever protocol the provider uses otherwise. */
function withDecisionFaults(provider: Provider): Provider {
  return { ...provider, dialect: { ...provider.dialect, fault: decisionFault } };
}

/** Tells the engine not to reason before the letter. `quirks.decision_body` adds to it or replaces it. */
function withoutThinking({ card, quirks, dialect }: Provider): Readonly<Record<string, unknown>> {
  const given = quirks.decision_body ?? {};
  return dialect.name === "openai-chat" ? { ...card.decisions?.body, ...given } : given;
}

/**
 * The provider of a configuration entry that only answers decisions; undefined for chat kinds. `chat` is the dialect to state
 * where one is required; only errors are parsed with it.
 */
export function decisionProvider(config: ProviderConfig, chat: Dialect): Provider | undefined {
  if (kindFacts(config.kind).dialect !== undefined) return undefined;
  const card = decisionCard(config.preset ?? config.kind, chat.name);
  return {
    name: config.name,
    dialect: { ...chat, fault: decisionFault },
    card,
    minter: config.name,
    baseUrl: config.baseUrl,
    quirks: {},
    endUsers: endUserScope(config.endUsers, card.quirks),
    extraHeaders: config.headers,
    keys: new CredentialPool(config.apiKeys),
    timeoutsMs: config.timeoutMs,
    retry: { attempts: config.retry.attempts, baseMs: config.retry.baseMs, maxMs: config.retry.maxMs },
    ...network(config.timeoutMs.connect),
    embedded: false,
  };
}
