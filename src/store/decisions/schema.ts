// The tables of typed decisions: immutable versions, the aliases that move between them, the upstream models that were seen
// answering for them, and what models say of questions without a state.

import { index, primaryKey, text } from "drizzle-orm/sqlite-core";
import { lateTable } from "../late-table.ts";
import { wholeMs } from "../values.ts";

/** Versions of decision models. A row is written once and never changed: a change is a new version. */
export const decisionVersions = lateTable("decision_versions", () => ({
  id: text("id").primaryKey(),
  /** The configured id that it derives from; the version's own id if the configuration defines it. */
  origin: text("origin").notNull(),
  /** SHA-256 of everything that determines its answers. */
  hash: text("hash").notNull(),
  /** Backend and calibration. */
  record: text("record", { mode: "json" }).$type<Readonly<Record<string, unknown>>>().notNull(),
  /** The measurements of its calibration; null if nothing was fitted. */
  metrics: text("metrics", { mode: "json" }).$type<Readonly<Record<string, unknown>>>(),
  createdAtMs: wholeMs("created_at").notNull(),
}));

/** Aliases; moved only by an operator. */
export const decisionAliases = lateTable("decision_aliases", () => ({
  alias: text("alias").primaryKey(),
  version: text("version").notNull(),
  updatedAtMs: wholeMs("updated_at").notNull(),
}));

/**
 * The models that answered for a version, as the upstreams report them. Several rows for one route mean that the
 * upstream does not keep to one model.
 */
export const decisionSightings = lateTable(
  "decision_sightings",
  () => ({
    version: text("version").notNull(),
    provider: text("provider").notNull(),
    upstreamModel: text("upstream_model").notNull(),
    fingerprint: text("fingerprint").notNull(),
    firstAtMs: wholeMs("first_at").notNull(),
    lastAtMs: wholeMs("last_at").notNull(),
  }),
  (t) => [primaryKey({ columns: [t.version, t.provider, t.upstreamModel, t.fingerprint] })],
);

/** The priors of models. A row is written once and never changed; above a number of rows, the oldest are deleted. */
export const decisionPriors = lateTable(
  "decision_priors",
  () => ({
    /** SHA-256 of the model and of the question as it is asked. */
    key: text("key").primaryKey(),
    /** The log probability of each position, in each order of the options. */
    logProbabilities: text("log_probabilities", { mode: "json" }).$type<readonly (readonly number[])[]>().notNull(),
    createdAtMs: wholeMs("created_at").notNull(),
  }),
  (t) => [index("decision_priors_created").on(t.createdAtMs)],
);
