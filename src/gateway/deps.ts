// What the chat pipeline needs of the rest of the program; the wiring hands it over.

import type { Clock } from "../base/clock.ts";
import type { Catalog, CatalogModel, ModelRoute } from "../catalog/models.ts";
import type { ChatRequest } from "../chat/request.ts";
import type { BodyLimits } from "../http/body.ts";
import type { Exchange } from "../http/exchange.ts";
import type { UsageRecord } from "../store/usage/record.ts";
import type { Provider } from "../upstream/provider.ts";
import type { DecodeOptions, WireFormat } from "../wire/format.ts";
import type { Admit } from "./admit.ts";
import type { Affinity } from "./affinity.ts";
import type { AttemptDeps } from "./attempts.ts";
import type { Budgets } from "./budgets.ts";
import type { Caller } from "./caller.ts";
import type { AdmittedRequest, ConversationState, Keep } from "./chat-exchange.ts";
import type { Conversations } from "./compaction/conversations.ts";
import type { ReasoningMemory } from "./reasoning-memory.ts";
import type { HeldRequest } from "./threads/held.ts";
import type { UpstreamThreads } from "./upstream-threads.ts";

/** What the pipeline needs of the rest of the program. */
export interface GatewayDeps extends AttemptDeps {
  clock: Clock;
  catalog(): Catalog;
  isDecisionModel(id: string): boolean;
  /** Authenticates, and counts against plan, rate limit and budget; throws 401, 402, 403 or 429. */
  admit: Admit;
  /** Reserves what a request may cost of its caller's budgets. */
  budgets: Pick<Budgets, "reserve">;
  bodyLimits(): BodyLimits;
  /** The overall deadline of a request that is not streaming. */
  requestTimeoutMs(): number;
  /** How long a stream's headers wait for the upstream's first event; 10 s except in tests. */
  peekMs?: number | undefined;
  record(usage: UsageRecord): void;
  /** What is remembered of the reasoning that went through. */
  reasoning: ReasoningMemory;
  /** Where conversations stay. */
  affinity: Affinity;
  /** What is remembered of conversations that upstreams hold. */
  threads: UpstreamThreads;
  /** Changes a request before it is routed: stored history, uploaded files, compaction. */
  prepare?(draft: PreparedRequest): Promise<Prepared | undefined>;
  /** Shortens conversations that have grown too long; absent: none is. */
  conversations?: Pick<
    Conversations,
    "of" | "fit" | "atWall" | "answered" | "record" | "asked" | "pausing" | "editsOf"
  >;
  /** Makes a request fit one provider: images it cannot take by URL are fetched. */
  fitImages?(admitted: AdmittedRequest, provider: Provider, signal: AbortSignal): Promise<AdmittedRequest>;
  /** An answer could not be stored; the client gets it all the same. */
  keepFailed?(error: unknown, requestId: string): void;
  streamOpened?(): void;
  streamClosed?(): void;
}

/** A request that was read, resolved and checked. */
export interface PreparedRequest {
  exchange: Exchange;
  caller: Caller;
  format: WireFormat;
  chat: ChatRequest;
  body: Readonly<Record<string, unknown>>;
  /** What the format reads a body with. */
  options: DecodeOptions;
  model: CatalogModel;
  routes: readonly ModelRoute[];
  /** The thread that it begins is held here, as the provider refused to. */
  holdsThread?: boolean | undefined;
}

/** What `prepare` makes of it. */
export interface Prepared {
  chat: ChatRequest;
  members: Readonly<Record<string, unknown>> | undefined;
  /** Parameters that were left out here, to be told. */
  dropped?: readonly string[];
  /** The conversation is held here: takes the answer when it is complete, before the client has its end. */
  held?: HeldRequest;
  /** It continues with a conversation that is held here, which may have to be shortened; and what is kept of that. */
  holding?: { id: string; keeps: ConversationState["keeps"] };
  /** The routes that are left, where only some can take what was sent. */
  routes?: readonly ModelRoute[];
  /** Keeps the finished answer, in the client's format; called before the client has all of it. */
  keep?: Keep;
}
