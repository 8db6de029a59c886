// What the chat pipeline needs from the rest of the program. The wiring of the program passes it in.

import type { Clock } from "../../base/clock.ts";
import type { Catalog, CatalogModel, ModelRoute } from "../../catalog/models.ts";
import type { ChatRequest } from "../../chat/request.ts";
import type { BodyLimits } from "../../http/body.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { UsageRecord } from "../../store/usage/record.ts";
import type { Provider } from "../../upstream/provider.ts";
import type { DecodeOptions, WireFormat } from "../../wire/format.ts";
import type { Admit } from "../admission/admit.ts";
import type { Budgets } from "../admission/budgets.ts";
import type { Caller } from "../admission/caller.ts";
import type { EndUsers } from "../admission/end-users.ts";
import type { Affinity } from "../stages/affinity/affinity.ts";
import type { ChatCompaction } from "../stages/compaction/conversations.ts";
import type { ReasoningMemory } from "../stages/reasoning/reasoning-memory.ts";
import type { GatewayThread } from "../stages/threads/gateway-threads.ts";
import type { UpstreamThreads } from "../stages/threads/upstream-threads.ts";
import type { AttemptDeps } from "./attempts.ts";
import type { AdmittedRequest, Compactable, Keep } from "./chat-exchange.ts";

/** What the pipeline needs from the rest of the program. */
export interface GatewayDeps extends AttemptDeps {
  clock: Clock;
  catalog(): Catalog;
  isDecisionModel(id: string): boolean;
  /** Admits a request by key, plan, rate limit and budget. Throws 401, 402, 403 or 429. */
  admit: Admit;
  /** Reserves the maximum cost of a request in its caller's budgets. */
  budgets: Pick<Budgets, "reserve">;
  bodyLimits(): BodyLimits;
  /** The time limit of a request that does not stream. */
  requestTimeoutMs(): number;
  /** How long a stream's headers wait for the upstream's first event; 10 s except in tests. */
  peekMs?: number | undefined;
  record(usage: UsageRecord): void;
  /** The name of a caller for a provider that is told who its requests are from. */
  endUserOf: EndUsers;
  /** Remembers the reasoning of answers. */
  reasoning: ReasoningMemory;
  /** Remembers where conversations are served. */
  affinity: Affinity;
  /** Remembers the conversations that upstreams hold. */
  threads: UpstreamThreads;
  /** Changes a request before routing: inserts stored history and uploaded files, and prepares compaction. */
  prepare?(draft: PreparedRequest): Promise<Prepared | undefined>;
  /** Shortens conversations that are too long; absent if compaction is disabled. */
  compaction?: Pick<
    ChatCompaction,
    "compactableOf" | "shortenToFit" | "afterOverflow" | "answered" | "record" | "asked" | "pausing" | "editsOf"
  >;
  /** Adapts a request to one provider: fetches the images that it cannot take by URL. */
  inlineImages?(admitted: AdmittedRequest, provider: Provider, signal: AbortSignal): Promise<AdmittedRequest>;
  /** Called when an answer could not be stored; the client gets it anyway. */
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
  /** The options with which the format read the body. */
  options: DecodeOptions;
  model: CatalogModel;
  routes: readonly ModelRoute[];
  /** Whether the gateway holds the new thread, because the provider refused to. */
  isThreadKeptHere?: boolean | undefined;
}

/** The result of `prepare`. */
export interface Prepared {
  chat: ChatRequest;
  members: Readonly<Record<string, unknown>> | undefined;
  /** Parameters that were dropped in this step, to be reported. */
  dropped?: readonly string[];
  /** Present if the gateway holds the conversation: stores the complete answer before the client sees its end. */
  gatewayThread?: GatewayThread;
  /** Present for a conversation that the gateway holds and may have to shorten: its id, and which part of it is stored. */
  keptConversation?: { id: string; keeps: Compactable["keeps"] };
  /** The remaining routes, if only some support the request. */
  routes?: readonly ModelRoute[];
  /** Stores the finished answer in the client's format. Called before the client has received all of it. */
  keep?: Keep;
}
