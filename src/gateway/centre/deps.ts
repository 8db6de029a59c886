// What the chat pipeline needs from the rest of the program. The wiring of the program passes it in.

import type { Clock } from "../../base/clock.ts";
import type { Catalog } from "../../catalog/models.ts";
import type { BodyLimits } from "../../http/body.ts";
import type { UsageRecord } from "../../store/usage/record.ts";
import type { Admit } from "../admission/admit.ts";
import type { Budgets } from "../admission/budgets.ts";
import type { EndUsers } from "../admission/end-users.ts";
import type { AttemptDeps } from "../calls/attempts.ts";
import type { StagesByOrigin } from "./stage.ts";

/** What a whole answer needs, for whomever it is. */
export interface WholeDeps extends AttemptDeps {
  /** The name of a caller for a provider that is told who its requests are from. */
  endUserOf: EndUsers;
  record(usage: UsageRecord): void;
  /** The features of chat, in the order in which they act. */
  stages: StagesByOrigin;
  /** Remembers which provider issued a sealed value, or that it returned reasoning without one. */
  sealed(value: string | undefined, minter: string): void;
  /** Called when an answer could not be stored; the client gets it anyway. */
  keepFailed?(error: unknown, requestId: string): void;
}

/** What the pipeline needs from the rest of the program. */
export interface GatewayDeps extends WholeDeps {
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
  streamOpened?(): void;
  streamClosed?(): void;
}
