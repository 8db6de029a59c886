// Storage and retention, the audit log of all accounts, and the configuration, for operators.

import { isoTime } from "../../base/iso-time.ts";
import type { LiveConfig } from "../../config/live.ts";
import type { AccountStore } from "../../store/access/accounts.ts";
import type { AuditStore } from "../../store/access/audit.ts";
import type { StorageStore } from "../../store/work/storage.ts";
import type { Listing } from "../contract.ts";
import type { AuditView, ConfigView, RetentionRow, StorageView } from "../contract-admin.ts";
import { admin, type Endpoint } from "./endpoint.ts";
import { pageOf } from "./form.ts";
import type { GatewayFigures } from "./gateway-api.ts";

export interface HousekeepingApiDeps {
  readonly housekeeping: {
    readonly dataDir: string;
    /** Contents of the data directory other than the database. */
    others(): Promise<readonly { readonly name: string; readonly bytes: number; readonly files: number }[]>;
    topStorage: StorageStore["topStorage"];
    storageLimitBytes(): number;
    retention(): readonly RetentionRow[];
    /** When expired data was last deleted. */
    lastSweep(): { readonly endedAtMs: number; readonly deleted: number; readonly failed: number } | undefined;
    searchAudit: AuditStore["searchAudit"];
    /** The device that a User-Agent names. */
    device(userAgent: string): string;
    config: LiveConfig["describe"];
  };
  readonly gateway: Pick<GatewayFigures, "database">;
  readonly people: Pick<AccountStore, "findAccount" | "findAccountByLogin">;
}

const ACCOUNTS_MAX = 20;
const EVENTS_PER_PAGE = 50;
const FILTER_CHARS_MAX = 200;

/** The endpoints of storage, audit log and configuration. */
export function housekeepingApi({ housekeeping, gateway, people }: HousekeepingApiDeps): Endpoint[] {
  return [
    admin("GET", "/admin/storage", async (): Promise<StorageView> => {
      const [database, others, accounts] = await Promise.all([
        gateway.database(),
        housekeeping.others(),
        housekeeping.topStorage(ACCOUNTS_MAX),
      ]);
      const sweep = housekeeping.lastSweep();
      return {
        data_dir: housekeeping.dataDir,
        database: { bytes: database.bytes, free_bytes: database.freeBytes, log_bytes: database.logBytes },
        others,
        accounts: accounts.map(({ accountId, username, bytes }) => ({ id: accountId, username, bytes })),
        limit_bytes: housekeeping.storageLimitBytes(),
        retention: housekeeping.retention(),
        sweep:
          sweep === undefined ? null : { at: isoTime(sweep.endedAtMs), deleted: sweep.deleted, failed: sweep.failed },
      };
    }),

    admin("GET", "/admin/audit", async ({ query }): Promise<Listing<AuditView>> => {
      const [name, event] = ["account", "event"].map((one) => (query.get(one) ?? "").slice(0, FILTER_CHARS_MAX).trim());
      const account = name ? ((await people.findAccount(name)) ?? (await people.findAccountByLogin(name))) : undefined;
      if (name && account === undefined) return { data: [] };
      const rows = await housekeeping.searchAudit({
        ...(account === undefined ? {} : { accountId: account.id }),
        ...(event ? { event } : {}),
        ...pageOf(query),
        limit: EVENTS_PER_PAGE,
      });
      return {
        data: rows.map((row) => ({
          id: row.id,
          account: { id: row.accountId, username: row.username },
          event: row.event,
          address: row.address,
          device: housekeeping.device(row.userAgent),
          detail: row.detail,
          created_at: isoTime(row.createdAtMs),
        })),
      };
    }),

    admin("GET", "/admin/config", async (): Promise<ConfigView> => {
      const { file, values } = housekeeping.config();
      return { file: file ?? null, values };
    }),
  ];
}
