// What the management of keys needs from the rest of the program.

import type { Clock } from "../../../base/clock.ts";
import type { TierGrant } from "../../../catalog/tiers.ts";
import type { TierId } from "../../../config/schema.ts";
import type { BodyLimits } from "../../../http/body.ts";
import type { EndpointCall } from "../../../http/served-endpoint.ts";
import type { AccountStore } from "../../../store/access/accounts.ts";
import type { AuditStore } from "../../../store/access/audit.ts";
import type { KeyStore } from "../../../store/access/keys.ts";
import type { ProjectMemberStore } from "../../../store/access/project-members.ts";
import type { UsageWriter } from "../../../store/usage/writer.ts";
import type { Caller } from "../../admission/caller.ts";

/** The services. */
export interface ManagedKeysDeps {
  readonly keys: Pick<
    KeyStore,
    | "searchKeys"
    | "findKey"
    | "createKey"
    | "updateKey"
    | "rotateKey"
    | "revokeKey"
    | "countLiveKeys"
    | "spendingOfKeys"
  >;
  readonly accounts: Pick<AccountStore, "findAccount">;
  readonly audit: Pick<AuditStore, "addAudit">;
  /** A function, since most gateways have no projects and never load their code. */
  projectMembers(): Pick<ProjectMemberStore, "findRole">;
  /** The usage that is not yet written. */
  readonly writer: Pick<UsageWriter, "pendingCostMicros" | "readBetweenWrites">;
  readonly clock: Clock;
  grants(): Readonly<Record<TierId, TierGrant>>;
  bodyLimits(): BodyLimits;
  /** Called after keys have changed, so that caches of them are discarded. */
  keysChanged(): void;
}

/** A request of the holder of a management key. */
export interface ManagedCall extends Pick<EndpointCall, "request"> {
  readonly params: Readonly<Record<string, string>>;
  readonly caller: Caller;
}

/** What an endpoint does. */
export type ManagedHandler = (deps: ManagedKeysDeps, call: ManagedCall) => Promise<Response>;
