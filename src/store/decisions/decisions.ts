// Versions of decision models, their aliases, the upstream models that were seen answering for them, and their priors.

import { and, asc, desc, eq, inArray } from "drizzle-orm";
import { storable } from "../../base/storable.ts";
import { byBytes } from "../engine/byte-order.ts";
import { type Store, step, type Work } from "../engine/store.ts";
import { decisionAliases, decisionPriors, decisionSightings, decisionVersions } from "./schema.ts";

/**
 * A stored version. `record` holds backend and calibration, `metrics` the measurements of the calibration: read them with
 * `versionOfRow` and `readMeasurement` of `decisions/`; `decisionOverview` there combines them for a page.
 */
export interface StoredVersion {
  readonly id: string;
  readonly origin: string;
  readonly hash: string;
  readonly record: Readonly<Record<string, unknown>>;
  readonly metrics: Readonly<Record<string, unknown>> | null;
  readonly createdAtMs: number;
}

/** The model that answered, as the upstream reports it; "" for what it does not report. */
export interface Sighting {
  readonly version: string;
  readonly provider: string;
  readonly upstreamModel: string;
  readonly fingerprint: string;
}

/** A sighting with the times of its first and last occurrence. */
export interface StoredSighting extends Sighting {
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

/** Above this number of names, the upstream counts as one that reports a new name with every answer. */
const SIGHTINGS_MAX = 50;

/** Maximum number of priors, of some hundred bytes each as a rule. A caller may ask any number of different questions. */
export const PRIORS_MAX = 10_000;
/** How many of the oldest priors a new one may displace, so that a lowered maximum is reached in steps. */
const DISPLACED_MAX = 100;

/** The log probability of each position, in each order of a question's options. */
export type StoredPrior = readonly (readonly number[])[];

/** Verbs over the tables of decisions. */
export type DecisionStore = ReturnType<typeof decisionStore>;

/** Builds the verbs. */
export function decisionStore(store: Store) {
  return { ...versionVerbs(store), ...aliasVerbs(store), ...sightingVerbs(store), ...priorVerbs(store) };
}

/**
 * Whether a table has rows. Most installations make no decisions, and each statement that lists them takes a start a millisecond to
 * build, and the columns of its table.
 */
function hasRows({ statement }: Pick<Store, "statement">, table: string): () => Promise<boolean> {
  const any = statement(`SELECT 1 AS found FROM ${table} LIMIT 1`);
  return async () => (await any.get()) !== null;
}

function versionVerbs(store: Store) {
  const { db, clock } = store;
  const hasVersions = hasRows(store, "decision_versions");
  return {
    /** Every version, oldest first. */
    async listDecisionVersions(): Promise<StoredVersion[]> {
      if (!(await hasVersions())) return [];
      return db
        .select()
        .from(decisionVersions)
        .orderBy(asc(decisionVersions.createdAtMs), asc(byBytes(decisionVersions.id)))
        .all();
    },
    /** Stores a version; false if the id is taken. The existing version then stays unchanged. */
    async addDecisionVersion(version: Omit<StoredVersion, "createdAtMs">): Promise<boolean> {
      const row = { ...version, createdAtMs: clock.now() };
      const added = db
        .insert(decisionVersions)
        .values(row)
        .onConflictDoNothing({ target: decisionVersions.id })
        .returning({ id: decisionVersions.id });
      return (await added.all()).length > 0;
    },
    /**
     * Stores a version derived from another one. Two runs over the same rows produce the same version, which is stored
     * once. Returns its id, or the id of the equal version; undefined if a different version has that id.
     */
    async addSuccessor(version: Omit<StoredVersion, "createdAtMs">): Promise<string | undefined> {
      const { id, origin, hash } = decisionVersions;
      return store.transaction(function* (): Work<string | undefined> {
        const same = and(eq(origin, version.origin), eq(hash, version.hash));
        const known = yield* step(() => db.select({ id }).from(decisionVersions).where(same).get());
        if (known !== undefined) return known.id;
        const row = { ...version, createdAtMs: clock.now() };
        const added = db.insert(decisionVersions).values(row).onConflictDoNothing({ target: id }).returning({ id });
        return (yield* step(() => added.all()))[0]?.id;
      });
    },
  };
}

function aliasVerbs(store: Store) {
  const { db, clock } = store;
  const hasAliases = hasRows(store, "decision_aliases");
  return {
    /** Alias → version. */
    async listDecisionAliases(): Promise<{ alias: string; version: string }[]> {
      if (!(await hasAliases())) return [];
      const { alias, version } = decisionAliases;
      return db
        .select({ alias, version })
        .from(decisionAliases)
        .orderBy(asc(byBytes(decisionAliases.alias)))
        .all();
    },
    /** Points an alias to a version; with `seed`, only if the alias does not exist yet. */
    async setDecisionAlias(alias: string, version: string, options: { seed: boolean }): Promise<void> {
      const row = { version, updatedAtMs: clock.now() };
      const insert = db.insert(decisionAliases).values({ alias, ...row });
      if (options.seed) await insert.onConflictDoNothing({ target: decisionAliases.alias }).run();
      else await insert.onConflictDoUpdate({ target: decisionAliases.alias, set: row }).run();
    },
  };
}

function sightingVerbs(store: Store) {
  const { db, clock } = store;
  const hasSightings = hasRows(store, "decision_sightings");
  return {
    /** Records which model answered; returns the other models seen for that version at that provider. */
    async noteSighting(seen: Sighting): Promise<Sighting[]> {
      // The names are the upstream's text; malformed parts are removed instead of refusing the whole text.
      const sighting = {
        ...seen,
        upstreamModel: storable(seen.upstreamModel),
        fingerprint: storable(seen.fingerprint),
      };
      const now = clock.now();
      const { version, provider, upstreamModel, fingerprint } = decisionSightings;
      const known = await db
        .select()
        .from(decisionSightings)
        .where(and(eq(version, sighting.version), eq(provider, sighting.provider)))
        .all();
      const others = known.filter(
        (row) => row.upstreamModel !== sighting.upstreamModel || row.fingerprint !== sighting.fingerprint,
      );
      if (others.length < SIGHTINGS_MAX) {
        await db
          .insert(decisionSightings)
          .values({ ...sighting, firstAtMs: now, lastAtMs: now })
          .onConflictDoUpdate({ target: [version, provider, upstreamModel, fingerprint], set: { lastAtMs: now } })
          .run();
      }
      return others;
    },
    /** All sightings, oldest first. */
    async listSightings(): Promise<StoredSighting[]> {
      if (!(await hasSightings())) return [];
      const { version, provider, upstreamModel, fingerprint } = decisionSightings;
      const same = [version, provider, upstreamModel, fingerprint].map((column) => asc(byBytes(column)));
      return db
        .select()
        .from(decisionSightings)
        .orderBy(asc(decisionSightings.firstAtMs), ...same)
        .all();
    },
  };
}

function priorVerbs(store: Store) {
  const { db, clock } = store;
  return {
    /** The prior with this key. */
    async decisionPrior(key: string): Promise<StoredPrior | undefined> {
      const { key: column, logProbabilities } = decisionPriors;
      const row = await db.select({ logProbabilities }).from(decisionPriors).where(eq(column, key)).get();
      return row?.logProbabilities;
    },
    /**
     * Stores a prior and deletes the oldest ones above `most`. Returns the one that is stored, which is the first if several
     * nodes have made it.
     */
    async keepDecisionPrior(key: string, prior: StoredPrior, most: number = PRIORS_MAX): Promise<StoredPrior> {
      const { key: column, logProbabilities, createdAtMs } = decisionPriors;
      return store.transaction(function* (): Work<StoredPrior> {
        const row = { key, logProbabilities: prior, createdAtMs: clock.now() };
        const insert = db.insert(decisionPriors).values(row).onConflictDoNothing({ target: column });
        const added = yield* step(() => insert.returning({ key: column }).all());
        if (added.length === 0) {
          const known = db.select({ logProbabilities }).from(decisionPriors).where(eq(column, key));
          return (yield* step(() => known.get()))?.logProbabilities ?? prior;
        }
        const newestFirst = [desc(createdAtMs), desc(byBytes(column))];
        const rows = db
          .select({ key: column })
          .from(decisionPriors)
          .orderBy(...newestFirst);
        const old = (yield* step(() => rows.limit(DISPLACED_MAX).offset(most).all())).map(({ key }) => key);
        if (old.length > 0) yield* step(() => db.delete(decisionPriors).where(inArray(column, old)).run());
        return prior;
      });
    },
  };
}
