// What the chat pipeline needs from the rest of the program, passed in by the wiring.

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

/** What the pipeline needs from the rest of the program. */
export interface GatewayDeps extends AttemptDeps {
  clock: Clock;
  catalog(): Catalog;
  isDecisionModel(id: string): boolean;
  /** Authenticates, and checks plan, rate limit and budget; throws 401, 402, 403 or 429. */
  admit: Admit;
  /** Reserves what a request may cost of its caller's budgets. */
  budgets: Pick<Budgets, "reserve">;
  bodyLimits(): BodyLimits;
  /** The deadline of a request that does not stream. */
  requestTimeoutMs(): number;
  /** How long a stream's headers wait for the upstream's first event; 10 s except in tests. */
  peekMs?: number | undefined;
  record(usage: UsageRecord): void;
  /** The memory of reasoning that passed through. */
  reasoning: ReasoningMemory;
  /** The memory of where conversations are served. */
  affinity: Affinity;
  /** The memory of conversations that upstreams hold. */
  threads: UpstreamThreads;
  /** Changes a request before routing: stored history, uploaded files, compaction. */
  prepare?(draft: PreparedRequest): Promise<Prepared | undefined>;
  /** Shortens conversations that are too long; absent: compaction is off. */
  conversations?: Pick<
    Conversations,
    "of" | "fit" | "atWall" | "answered" | "record" | "asked" | "pausing" | "editsOf"
  >;
  /** Adapts a request to one provider: fetches images that it cannot take by URL. */
  fitImages?(admitted: AdmittedRequest, provider: Provider, signal: AbortSignal): Promise<AdmittedRequest>;
  /** An answer could not be stored; the client gets it anyway. */
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
  /** Options with which the format read the body. */
  options: DecodeOptions;
  model: CatalogModel;
  routes: readonly ModelRoute[];
  /** The new thread is held here, as the provider refused to. */
  holdsThread?: boolean | undefined;
}

/** The result of `prepare`. */
export interface Prepared {
  chat: ChatRequest;
  members: Readonly<Record<string, unknown>> | undefined;
  /** Parameters that were dropped here, to be reported. */
  dropped?: readonly string[];
  /** The conversation is held here: stores the complete answer before the client sees its end. */
  held?: HeldRequest;
  /** Continues a conversation that is held here and may have to be shortened; and what of it is stored. */
  holding?: { id: string; keeps: ConversationState["keeps"] };
  /** The remaining routes, if only some support the request. */
  routes?: readonly ModelRoute[];
  /** Stores the finished answer, in the client's format; called before the client has all of it. */
  keep?: Keep;
}
