// Anthropic's `thread`: the conversation continues at the provider that holds it, or the gateway holds it if no provider does.

import { ApiError } from "../../../base/errors.ts";
import type { ModelRoute } from "../../../catalog/models.ts";
import { UpstreamFault } from "../../../upstream/fault.ts";
import type { Provider } from "../../../upstream/provider.ts";
import {
  type BodyMembers,
  type Change,
  type ChatTurn,
  type FailedCall,
  reread,
  type Stage,
  type StageRun,
  type Target,
} from "../../centre/stage.ts";
import { clientError } from "../../rules/policy.ts";
import type { GatewayThread, GatewayThreads } from "./gateway-threads.ts";
import {
  refusesThread,
  routesOfThread,
  supportsThreads,
  threadOf,
  type UpstreamThreads,
  withoutThreads,
} from "./upstream-threads.ts";

export interface ThreadsDeps {
  gatewayThreads: GatewayThreads;
  threads: UpstreamThreads;
  provider(name: string): Provider | undefined;
  scrub(text: string): string;
  /** Called when an answer could not be stored; the client gets it anyway. */
  keepFailed(error: unknown, requestId: string): void;
  /** Set if the requests are not answered, so that they continue no thread. */
  onlyReads?: true;
}

/** The members that a thread changes. */
const MEMBERS = ["messages", "thread", "system", "tools"] as const;

/** Creates the stage. */
export function createThreadsStage(deps: ThreadsDeps): Stage {
  return {
    name: "threads",
    open: ({ format, body }) =>
      format.hasThreads === true && body["thread"] != null ? new ThreadRun(deps) : undefined,
  };
}

class ThreadRun implements StageRun {
  readonly #deps: ThreadsDeps;
  /** The thread, if the gateway holds it. */
  #own: GatewayThread | undefined;
  /** What replaces a new thread that a provider refused, on every route and in every round. */
  #instead: Change | undefined;

  constructor(deps: ThreadsDeps) {
    this.#deps = deps;
  }

  /** Only once the gateway holds the thread, which may be after a provider refused it. */
  get readsText(): boolean {
    return this.#own !== undefined;
  }

  async prepare(turn: ChatTurn): Promise<Change | undefined> {
    const { caller, body, routes, format } = turn;
    // A provider that holds threads would store the text. After the refusal, clients send their history.
    if (caller.noStore) throw notStored();
    const thread = threadOf(format, body);
    if (!this.#isNative(routes) || (await this.#deps.gatewayThreads.has(caller.accountId, thread?.previousId))) {
      // A thread that the gateway holds continues here, whichever provider serves the model now.
      const change = await this.#held(turn, turn.content);
      if (change !== undefined) return change;
    }
    if (thread === undefined) return undefined;
    const { threads } = this.#deps;
    const { accountId } = caller;
    return {
      why: "threads",
      routes: routesOfThread(thread, routes, { ...this.#deps, accountId, held: this.#deps.gatewayThreads.areHeld() }),
      keepsUpstreamId: (id, provider) => threads.answered(id, { accountId, provider }),
    };
  }

  /** If the provider refuses to hold a new thread, the gateway does. */
  again(turn: ChatTurn, { error }: FailedCall): Promise<Change | undefined> | undefined {
    if (!this.#isNew(turn) || !(error instanceof UpstreamFault)) return undefined;
    if (!refusesThread(clientError(error, this.#deps.scrub, turn.format.dialect))) return undefined;
    return this.#heldInstead(turn).then((held) => {
      // `adapt` applies it.
      return held === undefined ? undefined : { why: "thread refused" };
    });
  }

  adapt(turn: ChatTurn, { provider }: Target): Promise<Change | undefined> | Change | undefined {
    if (this.#instead !== undefined || supportsThreads(provider) || !this.#isNew(turn)) return this.#instead;
    return this.#heldInstead(turn);
  }

  /** Whether a thread begins that the gateway does not hold. */
  #isNew({ format, body }: ChatTurn): boolean {
    const thread = this.#own === undefined ? threadOf(format, body) : undefined;
    return thread !== undefined && thread.previousId === undefined;
  }

  async #heldInstead(turn: ChatTurn): Promise<Change | undefined> {
    this.#instead = await this.#held(turn, { ...turn.body, ...turn.members });
    return this.#instead;
  }

  async complete({
    turn: { id, model, exchange },
    fault,
    text,
    usage,
  }: Parameters<NonNullable<StageRun["complete"]>>[0]): Promise<undefined> {
    if (this.#own === undefined || fault !== undefined) return;
    const tokens = usage === undefined ? 0 : usage.inputTokens + usage.outputTokens;
    try {
      // If that fails, the thread ends, and the client learns so with its next request.
      await this.#own.store({ id, text: text(), model: model.id, tokens });
    } catch (error) {
      this.#deps.keepFailed(error, exchange.requestId);
    }
  }

  #isNative(routes: readonly ModelRoute[]): boolean {
    return routes.some(({ provider }) => supportsThreads(this.#deps.provider(provider)));
  }

  /** The turn with the whole conversation; undefined if the gateway holds no threads. */
  async #held(turn: ChatTurn, body: BodyMembers): Promise<Change | undefined> {
    const { caller, exchange, format, clientHeaders } = turn;
    const { gatewayThreads, onlyReads } = this.#deps;
    const continued = onlyReads === true ? undefined : exchange;
    const own = await gatewayThreads.open(format, body, { accountId: caller.accountId, exchange: continued });
    if (own === undefined) return undefined;
    this.#own = own;
    const members: Record<string, unknown> = { ...turn.members };
    for (const name of MEMBERS) if (own.body[name] !== body[name]) members[name] = own.body[name];
    return {
      why: "threads",
      content: own.body,
      chat: reread(turn, own.body),
      members: turn.members && members,
      clientHeaders: withoutThreads(clientHeaders),
      keepsUpstreamId: undefined,
      ...(own.threadId === undefined ? {} : { keptConversation: { id: own.threadId, keeps: "nothing" } }),
    };
  }
}

function notStored(): ApiError {
  return new ApiError(
    "unsupported_parameter",
    "This key was created so that the content of its requests is not stored. Send the history instead.",
    {
      param: "thread",
      details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
    },
  );
}
