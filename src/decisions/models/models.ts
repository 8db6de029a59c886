// The current decision models: the entries of the configuration, the versions calibrated from them, and the targets of aliases.
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
  /** The decision models that providers list. They are offered if the configuration has no entry. */
  discovered?(): readonly ListedModel[];
  /** The models inside the program. They are offered in any case, unless something else has their name. */
  embedded?(): readonly ListedModel[];
  /** The calibration that an entry of the configuration names. Throws if the file is invalid. */
  readCalibrationFile(path: string): Promise<Calibration>;
  store: Pick<
    DecisionStore,
    "listDecisionVersions" | "addDecisionVersion" | "listDecisionAliases" | "setDecisionAlias" | "listSightings"
  >;
  /** Counts the writes to the database by other processes. */
  changeCounter(): number;
  clock: Clock;
  /** Reports a problem that an operator should solve. */
  problem(message: string): void;
}

/** The models at one moment. */
export interface DecisionSnapshot {
  readonly versions: ReadonlyMap<string, DecisionVersion>;
  /** The id of the version for each alias; that version may no longer exist. */
  readonly aliases: ReadonlyMap<string, string>;
}

const CHECK_EVERY_MS = 250;
/** Maximum number of upstream names that are cached before they are read from the store. */
const SIGHTED_MAX = 100;
/** Matches a valid id of a model. */
export const ID = /^[\w.:/@~+-]{1,200}$/;

/** The list of models, which is empty until `load`. */
export class DecisionModels {
  readonly #deps: DecisionModelsDeps;
  #snapshot: DecisionSnapshot = { versions: new Map(), aliases: new Map() };
  #lowerIds = new Map<string, string>();
  #counter = Number.NaN;
  #checkedMs = Number.NEGATIVE_INFINITY;
  /** The number of reads, and the latest one that is shown, so that a slow read does not undo a newer one. */
  #begun = 0;
  #shown = 0;
  #said = new Set<string>();
  #seen: Pick<Sighting, "version" | "provider" | "upstreamModel">[] = [];

  constructor(deps: DecisionModelsDeps) {
    this.#deps = deps;
  }

  /** Applies the current configuration: stores new versions and their first aliases. */
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

  /** Whether a name is an id or alias by the last read, for endpoints that only need the kind of a model. */
  has(id: string): boolean {
    return this.find(id) !== undefined;
  }

  /** The version for an id or alias, by the last read. */
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

  /** Lets callers request a model, which answered under a floating name, by its own name, so that they can pin it. */
  seen(version: DecisionVersion, { provider }: { readonly provider: string }, upstreamModel: string): void {
    if (version.floating !== true || this.#snapshot.versions.has(upstreamModel)) return;
    if (this.#seen.length >= SIGHTED_MAX || this.#seen.some((one) => one.upstreamModel === upstreamModel)) return;
    this.#seen.push({ version: version.id, provider, upstreamModel });
    this.#counter = Number.NaN;
    this.#checkedMs = Number.NEGATIVE_INFINITY;
  }

  /** All names by which a version can be requested. */
  namesOf({ id }: DecisionVersion): { id: string; aliases: readonly string[] } {
    const aliases = [...this.#snapshot.aliases].flatMap(([alias, target]) => (target === id ? [alias] : []));
    return { id, aliases };
  }

  /** The version that a caller requests. Throws 404 `model_not_found` or 403 `tier_required`. */
  async require(id: string, { tier, models }: ModelAccess): Promise<DecisionVersion> {
    await this.current();
    const version = this.find(id);
    if (version === undefined) {
      throw new ApiError(
        "model_not_found",
        `There is no decision model ${quoted(id)}; GET /v1/systemone/models lists yours.`,
        { param: "model", asked: id },
      );
    }
    if (!keyMayUse(models, this.namesOf(version))) throw keyMayNotUse(id, models, this.namesOf(version));
    if (!tierIncludes(tier, version.tier)) {
      const message = `The model ${quoted(version.id)} requires the ${version.tier} plan; your plan is ${tier}.`;
      throw new ApiError("tier_required", message, { param: "model", asked: id });
    }
    return version;
  }

  async #read(): Promise<void> {
    const turn = ++this.#begun;
    // The counter is read before the rows, so that rows written meanwhile are read again instead of missed.
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
      // Its calibration cannot be read. The stored version of the entry does not need the file and continues to answer.
      const origin = configured ?? versionOfConfig(entry, WITHOUT_CALIBRATION);
      for (const row of rows) {
        if (row.id === entry.id && row.origin !== entry.id) this.#complain(takenFrom(row));
        if (row.origin !== entry.id) continue;
        const version = versionOfRow(row, origin);
        if (version === undefined) this.#complain(`The stored decision model ${quoted(row.id)} cannot be read.`);
        else {
          const asStored = isAsStored(version);
          // The hash depends on the prompts, even if the entry was not changed.
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
      // If two providers list the same id, it belongs to the first one, since they may be different models.
      if (!versions.has(listed.model)) versions.set(listed.model, versionOfListing(listed));
    }
    for (const { version, provider, upstreamModel } of [...sightings, ...this.#seen]) {
      const listed = listings.find((one) => one.model === version && one.provider === provider);
      if (listed === undefined || versions.has(upstreamModel) || !ID.test(upstreamModel)) continue;
      versions.set(upstreamModel, versionOfListing({ ...listed, model: upstreamModel }));
    }
    const named = new Map(aliases.map(({ alias, version }) => [alias, version]));
    for (const listed of this.#deps.embedded?.() ?? []) {
      if (!versions.has(listed.model) && !named.has(listed.model)) versions.set(listed.model, versionOfListing(listed));
    }
    return { versions, aliases: named };
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
      this.#complain(`${unreadable}: ${why}. Until it can be read, only the stored version of the entry answers.`);
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
  return `The stored decision model ${quoted(id)} was made by a release with other prompts. Calibrate it again.`;
}

/** What an operator should do about a version of the previous revision. */
export function outdated({ id, calibration }: Pick<DecisionVersion, "id" | "calibration">): string {
  const repair =
    calibration.method === "fitted"
      ? "`sallyport calibrate --write` creates its successor"
      : "`sallyport calibrate --write`, or a new id for its entry, creates its successor";
  return `The decision model ${quoted(id)} is outdated: it still uses the prompts and formulas of the previous release, which only this release supports. ${repair}.`;
}

function changed(id: string): string {
  return `decisions.models: ${quoted(id)} was changed under the same id. The version as first defined still answers. Give the changed one a new id.`;
}

/** Routes, the limits of an upstream and concurrency follow the configuration, as long as the routes lead to the same models. */
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
