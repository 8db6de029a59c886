// Creates the parts of compaction and connects them; this happens once per program.

import type { Clock } from "../../../base/clock.ts";
import type { Flights } from "../../../base/flights.ts";
import type { CatalogModel, ModelRoute } from "../../../catalog/models.ts";
import type { ThreadStore } from "../../../store/work/threads.ts";
import type { ModelCallDeps } from "../../inner/ask.ts";
import { KeptConversations } from "../history/kept-conversations.ts";
import { GatewayThreads } from "../threads/gateway-threads.ts";
import { KeptThreads } from "../threads/kept.ts";
import { Compactor } from "./compactor.ts";
import { ChatCompaction } from "./conversations.ts";
import { TokenMemory } from "./measure.ts";
import { CompactionMemory } from "./memory.ts";
import { Sealer } from "./seal.ts";
import { Windows } from "./windows.ts";

export interface CompactionDeps {
  clock: Clock;
  store: ThreadStore & { makeRoom(accountId: string, bytes: number): Promise<boolean> };
  /** The secret from which the key for stored and carried text is derived. */
  secret: string;
  /** The configuration section `compaction`. */
  settings(): { enabled: boolean; threshold: number; keepLast: number; model: string; retentionMs: number };
  /** Finds a model by its id. */
  model(id: string): { model: CatalogModel; routes: readonly ModelRoute[] } | undefined;
  /** What the call of the summarising model needs. */
  flights: Flights;
  ask: ModelCallDeps;
  warn(message: string, fields: Record<string, unknown>): void;
}

/** Creates compaction, and what stores threads and conversations. */
export function createCompaction(deps: CompactionDeps) {
  const nowMs = () => deps.clock.now();
  const stopping = new AbortController();
  const sealer = new Sealer(deps.secret);
  const threads = new KeptThreads({ store: deps.store, sealer, retentionMs: () => deps.settings().retentionMs, nowMs });
  const keptConversations = new KeptConversations({
    store: deps.store,
    sealer,
    retentionMs: () => deps.settings().retentionMs,
    nowMs,
  });
  const tokens = new TokenMemory();
  const memory = new CompactionMemory(threads, nowMs);
  const compactor = new Compactor({
    tokens,
    memory,
    flights: deps.flights,
    nowMs,
    failed: (error) => deps.warn("a conversation could not be summarised; its oldest messages are left out", { error }),
  });
  const compaction = new ChatCompaction({
    compactor,
    memory,
    tokens,
    windows: new Windows(),
    threads,
    sealer,
    settings: deps.settings,
    provider: deps.ask.provider,
    model: deps.model,
    ask: async (question, options) => {
      // Few requests need a summary.
      const { askModel } = await import("../../inner/ask.ts");
      return askModel(deps.ask, question, { ...options, stopping: stopping.signal });
    },
    keepFailed: (error, requestId) => deps.warn("a thread could not be stored", { request_id: requestId, error }),
  });
  return {
    compaction,
    /** What the endpoints of threads and conversations read. */
    stored: { threads, conversations: keptConversations, memory },
    gatewayThreads: new GatewayThreads({ threads, enabled: () => deps.settings().enabled }),
    keptConversations,
    forgetConversation: (accountId: string, threadId: string) =>
      memory.forget({ accountId, threadId, keeps: "conversation", opening: "" }),
    sealer,
    keptThreads: threads,
    /** Aborts summaries that are being made in advance. */
    async stop() {
      stopping.abort(new Error("The program stops."));
      await compactor.idle();
    },
  };
}
