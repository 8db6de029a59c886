// The current decision models: the configuration's entries, the versions calibrated from them, and the aliases' targets.
// Another process may add versions and move aliases; this is noticed within a second.

import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { keyMayUse } from "../../catalog/key-models.ts";
import { keyMayNotUse, type ModelAccess } from "../../catalog/resolve.ts";
import { tierIncludes } from "../../catalog/tiers.ts";
import type { DecisionStore, Sighting, StoredVersion } from "../../store/decisions/decisions.ts";
import { backendOf } from "../backends/index.ts";
import type { Calibration } from "../calibration/calibration.ts";
import {
  type DecisionModelConfig,
  type DecisionVersion,
  isAsStored,
  isEdited,
  isOutdatedVersion,
  type ListedModel,
  rowOf,
  versionOfConfig,
  versionOfListing,
  versionOfRow,
  WITHOUT_CALIBRATION,
} from "./versions.ts";

export interface DecisionModelsDeps {
  configured(): readonly DecisionModelConfig[];
  /** Decision models that providers list; offered while the configuration has no entry. */
  discovered?(): readonly ListedModel[];
  /** The calibration that a configuration entry names. Throws if the file is invalid. */
  readCalibrationFile(path: string): Promise<Calibration>;
  store: Pick<
    DecisionStore,
    "listDecisionVersions" | "addDecisionVersion" | "listDecisionAliases" | "setDecisionAlias" | "listSightings"
  >;
  /** Changes when another process has written to the database. */
  changeCounter(): number;
  clock: Clock;
  /** A problem that an operator should fix. */
  problem(message: string): void;
}

/** The current state. */
export interface DecisionSnapshot {
  readonly versions: ReadonlyMap<string, DecisionVersion>;
  /** Alias → version id; the version may be gone. */
  readonly aliases: ReadonlyMap<string, string>;
}

const CHECK_EVERY_MS = 250;
/** Names that answered under another, cached until they are read from the store. */
const SIGHTED_MAX = 100;
/** A valid id of a model. */
export const ID = /^[\w.:/@~+-]{1,200}$/;

/** Builds the list; empty until `load`. */
export class DecisionModels {
  readonly #deps: DecisionModelsDeps;
  #snapshot: DecisionSnapshot = { versions: new Map(), aliases: new Map() };
  #lowerIds = new Map<string, string>();
  #counter = Number.NaN;
  #checkedMs = Number.NEGATIVE_INFINITY;
  /** Number of reads, and the latest that is shown: a slow one must not undo a newer one. */
  #begun = 0;
  #shown = 0;
  #said = new Set<string>();
  #sighted: Pick<Sighting, "version" | "provider" | "upstreamModel">[] = [];

  constructor(deps: DecisionModelsDeps) {
    this.#deps = deps;
  }

  /** Applies the current configuration: stores new versions and their initial aliases. */
  async load(): Promise<void> {
    const { store, configured } = this.#deps;
    for (const entry of configured()) {
      const version = await this.#configuredVersion(entry);
      if (version === undefined) continue;
      await store.addDecisionVersion(rowOf(version));
      for (const alias of entry.aliases) await store.setDecisionAlias(alias, version.id, { seed: true });
    }
    await this.#read();
  }

  /** The current models. */
  async current(): Promise<DecisionSnapshot> {
    const { clock, changeCounter } = this.#deps;
    const now = clock.now();
    if (Math.abs(now - this.#checkedMs) >= CHECK_EVERY_MS) {
      this.#checkedMs = now;
      if (changeCounter() !== this.#counter) await this.#read();
    }
    return this.#snapshot;
  }

  /** Whether it is an id or alias as last seen; for endpoints that only need to know the kind of a model. */
  has(id: string): boolean {
    return this.find(id) !== undefined;
  }

  /** The version that an id or alias names, as last seen. */
  find(id: string): DecisionVersion | undefined {
    const { versions, aliases } = this.#snapshot;
    const lower = this.#lowerIds.get(id.toLowerCase()) ?? "";
    // An exact match takes precedence over one that differs in case.
    return (
      versions.get(id) ??
      versions.get(aliases.get(id) ?? "") ??
      versions.get(lower) ??
      versions.get(aliases.get(lower) ?? "")
    );
  }

  /** What answered under a floating name can from now on be requested by its own: so a caller can pin it. */
  sighted(version: DecisionVersion, { provider }: { readonly provider: string }, upstreamModel: string): void {
    if (version.floating !== true || this.#snapshot.versions.has(upstreamModel)) return;
    if (this.#sighted.length >= SIGHTED_MAX || this.#sighted.some((one) => one.upstreamModel === upstreamModel)) return;
    this.#sighted.push({ version: version.id, provider, upstreamModel });
    this.#counter = Number.NaN;
    this.#checkedMs = Number.NEGATIVE_INFINITY;
  }

  /** Every name by which a version can be requested. */
  namesOf({ id }: DecisionVersion): { id: string; aliases: readonly string[] } {
    const aliases = [...this.#snapshot.aliases].flatMap(([alias, target]) => (target === id ? [alias] : []));
    return { id, aliases };
  }

  /** The version that a caller requests. Throws 404 `model_not_found` or 403 `tier_required`. */
  async require(id: string, { tier, models }: ModelAccess): Promise<DecisionVersion> {
    await this.current();
    const version = this.find(id);
    if (version === undefined) {
      throw new ApiError("model_not_found", `There is no decision model ${quoted(id)}.`, { param: "model" });
    }
    if (!keyMayUse(models, this.namesOf(version))) throw keyMayNotUse(id);
    if (!tierIncludes(tier, version.tier)) {
      const message = `The model ${quoted(version.id)} needs the ${version.tier} tier; your plan is ${tier}.`;
      throw new ApiError("tier_required", message, { param: "model" });
    }
    return version;
  }

  async #read(): Promise<void> {
    const turn = ++this.#begun;
    // Before the rows: what is written meanwhile is then read again instead of missed.
    this.#counter = this.#deps.changeCounter();
    try {
      const snapshot = await this.#snapshotNow();
      if (turn > this.#shown) this.#show(snapshot, turn);
    } catch (error) {
      this.#counter = Number.NaN;
      throw error;
    }
  }

  #show(snapshot: DecisionSnapshot, turn: number): void {
    this.#shown = turn;
    this.#snapshot = snapshot;
    this.#lowerIds = new Map();
    for (const id of [...snapshot.aliases.keys(), ...snapshot.versions.keys()]) {
      this.#lowerIds.set(id.toLowerCase(), id);
    }
  }

  async #snapshotNow(): Promise<DecisionSnapshot> {
    const { store, configured } = this.#deps;
    const [rows, aliases, sightings] = await Promise.all([
      store.listDecisionVersions(),
      store.listDecisionAliases(),
      store.listSightings(),
    ]);
    const versions = new Map<string, DecisionVersion>();
    for (const entry of configured()) {
      const configured = await this.#configuredVersion(entry);
      // Its calibration cannot be read: the stored version of the entry needs none, and continues to answer.
      const origin = configured ?? versionOfConfig(entry, WITHOUT_CALIBRATION);
      for (const row of rows) {
        if (row.id === entry.id && row.origin !== entry.id) this.#complain(takenFrom(row));
        if (row.origin !== entry.id) continue;
        const version = versionOfRow(row, origin);
        if (version === undefined) this.#complain(`The stored decision model ${quoted(row.id)} cannot be read.`);
        else {
          const asStored = isAsStored(version);
          // Its hash depends on the prompts even if its entry was not changed.
          const edited = row.id === entry.id && asStored && configured !== undefined && isEdited(version, configured);
          if (!asStored) this.#complain(askedOtherwise(row.id));
          if (isOutdatedVersion(version)) this.#complain(outdated(version));
          if (edited) this.#complain(changed(row.id));
          versions.set(version.id, { ...reroute(version, origin), edited });
        }
      }
    }
    const listings = configured().length === 0 ? (this.#deps.discovered?.() ?? []) : [];
    for (const listed of listings) {
      // An id listed by two providers belongs to the first: they may be different models.
      if (!versions.has(listed.model)) versions.set(listed.model, versionOfListing(listed));
    }
    for (const { version, provider, upstreamModel } of [...sightings, ...this.#sighted]) {
      const listed = listings.find((one) => one.model === version && one.provider === provider);
      if (listed === undefined || versions.has(upstreamModel) || !ID.test(upstreamModel)) continue;
      versions.set(upstreamModel, versionOfListing({ ...listed, model: upstreamModel }));
    }
    return { versions, aliases: new Map(aliases.map(({ alias, version }) => [alias, version])) };
  }

  async #configuredVersion(entry: DecisionModelConfig): Promise<DecisionVersion | undefined> {
    const unreadable = `decisions.models: the calibration of ${quoted(entry.id)} cannot be read`;
    try {
      const { readCalibrationFile } = this.#deps;
      const calibration = entry.calibration === "" ? WITHOUT_CALIBRATION : await readCalibrationFile(entry.calibration);
      for (const said of this.#said) if (said.startsWith(unreadable)) this.#said.delete(said);
      return versionOfConfig(entry, calibration);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#complain(`${unreadable}: ${why}. Only what was stored of the entry before answers.`);
      return undefined;
    }
  }

  #complain(message: string): void {
    if (this.#said.has(message)) return;
    this.#said.add(message);
    this.#deps.problem(message);
  }
}

function takenFrom({ id, origin }: Pick<StoredVersion, "id" | "origin">): string {
  return `decisions.models: ${quoted(id)} is the id of a version that was calibrated from ${quoted(origin)}; the entry is left out. Give it another id.`;
}

function askedOtherwise(id: string): string {
  return `The stored decision model ${quoted(id)} is asked otherwise by this program than by the one it was made with. Calibrate it again.`;
}

/** What an operator should do about a version of the previous revision. */
export function outdated({ id, calibration }: Pick<DecisionVersion, "id" | "calibration">): string {
  const repair =
    calibration.method === "fitted"
      ? "`sallyport calibrate --write` makes its successor"
      : "`sallyport calibrate --write`, or a new id for its entry, makes its successor";
  return `The decision model ${quoted(id)} is outdated: it answers by the words and formulas of the release before, for this release. ${repair}.`;
}

function changed(id: string): string {
  return `decisions.models: ${quoted(id)} was changed under the same id. The version as first defined goes on answering; give the changed one a new id.`;
}

/** Routes, an upstream's limits and concurrency follow the configuration as long as they lead to the same models. */
function reroute(version: DecisionVersion, origin: DecisionVersion): DecisionVersion {
  const models = (of: DecisionVersion) => [...new Set(of.spec.routes.map(({ model }) => model))].sort().join("\n");
  if (version.spec.kind !== origin.spec.kind || models(version) !== models(origin)) return version;
  const { routes, concurrency } = origin.spec;
  const { limits } = backendOf(version.spec).limitsDecide === true ? version.spec : origin.spec;
  return { ...version, spec: { ...version.spec, routes, limits, concurrency } };
}

function quoted(id: string): string {
  return JSON.stringify(id.length > 100 ? `${id.slice(0, 100)}…` : id);
}
