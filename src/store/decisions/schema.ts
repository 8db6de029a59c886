// The tables of typed decisions: versions that never change, the aliases that move between them, and which upstream models
// were seen to answer for them.

import { primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { wholeMs } from "../values.ts";

/** Versions of decision models. A row is written once and never edited: a change is another version. */
export const decisionVersions = sqliteTable("decision_versions", {
  id: text("id").primaryKey(),
  /** The id in the configuration that it comes from; its own for those the configuration defines. */
  origin: text("origin").notNull(),
  /** SHA-256 of everything that determines its answers. */
  hash: text("hash").notNull(),
  /** Backend and calibration. */
  record: text("record", { mode: "json" }).$type<Readonly<Record<string, unknown>>>().notNull(),
  /** What its calibration was measured at; null where nothing was fitted. */
  metrics: text("metrics", { mode: "json" }).$type<Readonly<Record<string, unknown>>>(),
  createdAtMs: wholeMs("created_at").notNull(),
});

/** Floating names; moved only by an operator. */
export const decisionAliases = sqliteTable("decision_aliases", {
  alias: text("alias").primaryKey(),
  version: text("version").notNull(),
  updatedAtMs: wholeMs("updated_at").notNull(),
});

/** What answered for a version, as the upstream names it. More than one row of a route: the upstream is not pinned. */
export const decisionSightings = sqliteTable(
  "decision_sightings",
  {
    version: text("version").notNull(),
    provider: text("provider").notNull(),
    upstreamModel: text("upstream_model").notNull(),
    fingerprint: text("fingerprint").notNull(),
    firstAtMs: wholeMs("first_at").notNull(),
    lastAtMs: wholeMs("last_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.version, t.provider, t.upstreamModel, t.fingerprint] })],
);
