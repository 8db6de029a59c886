// A version of a decision model: everything that determines its answers, with a hash of it. A version never changes, so an edited
// entry of the configuration with the same id does not replace it.

import { sha256Hex } from "../../base/ids.ts";
import { isRecord } from "../../base/json-object.ts";
import { isTierId } from "../../catalog/tiers.ts";
import type { Config, TierId } from "../../config/schema.ts";
import type { StoredVersion } from "../../store/decisions/decisions.ts";
import { CONFIDENCE_FORMULA } from "../api/confidence.ts";
import type { BackendSpec } from "../backends/backend.ts";
import { backendOf } from "../backends/index.ts";
import { systemone } from "../backends/systemone.ts";
import { type Calibration, readCalibration, UNCALIBRATED } from "../calibration/calibration.ts";
import { isFormer, LEGACY_REVISION, REVISION } from "../revision.ts";

/** An entry of `decisions.models`. */
export type DecisionModelConfig = Config["decisions"]["models"][number];

/** A version that can be used. */
export interface DecisionVersion {
  readonly id: string;
  /** The entry of the configuration from which it derives. */
  readonly origin: string;
  readonly name: string;
  readonly description: string;
  readonly tier: TierId;
  readonly spec: BackendSpec;
  readonly calibration: Calibration;
  /** US dollars for a million input tokens as configured; undefined for the public price. */
  readonly inputPrice?: number | undefined;
  readonly hash: string;
  /** Null if it was not stored yet. */
  readonly createdAtMs: number | null;
  /**
   * Whether it is offered because its provider lists it. Its name may be an alias there, and the upstream reports which model
   * answered.
   */
  readonly floating?: boolean;
  /** Whether the demo inside the program answers, which is never used unless it is asked for by its name. */
  readonly embedded?: boolean;
  /** Whether the configuration leaves the prior to the program, so that a stored version may have either. */
  readonly anyPrior?: boolean;
  /** Whether its entry in the configuration has changed. */
  readonly edited?: boolean;
  /** The measurements of its calibration. */
  readonly metrics: Readonly<Record<string, unknown>> | null;
}

/** The version for an entry of the configuration. */
export function versionOfConfig(entry: DecisionModelConfig, calibration: Calibration): DecisionVersion {
  const { backend } = entry;
  const spec: BackendSpec = {
    kind: backend.kind,
    routes: backend.routes.map((route) => ({ ...route, model: route.model === "" ? entry.id : route.model })),
    limits: Object.fromEntries(backend.limits instanceof Map ? backend.limits : Object.entries(backend.limits)),
    orders: backend.orders,
    concurrency: backend.concurrency,
    revision: REVISION,
    prior: backend.prior === "auto" ? priorFor(backend.kind, calibration) : backend.prior,
    minLabelMass: backend.minLabelMass,
  };
  return {
    id: entry.id,
    origin: entry.id,
    name: entry.name === "" ? entry.id : entry.name,
    description: entry.description,
    tier: isTierId(entry.tier) ? entry.tier : "free",
    spec,
    calibration,
    inputPrice: entry.prices?.input,
    hash: hashOf(spec, calibration),
    createdAtMs: null,
    ...(backend.prior === "auto" ? { anyPrior: true } : {}),
    metrics: null,
  };
}

/** Without labelled rows, the prior is the only known bias. A calibration holds for readings like those it was fitted on. */
function priorFor(kind: string, { method, prior }: Calibration): "none" | "content_free" {
  if (backendOf({ kind }).readsLogprobs !== true) return "none";
  return method === "none" ? "content_free" : (prior ?? "none");
}

/** What is done to the probabilities of a version: they are fitted on rows, corrected by a prior, or left as they are. */
export function correctionOf({ calibration, spec }: DecisionVersion): "none" | "prior" | "fitted" {
  return calibration.method === "none" && spec.prior === "content_free" ? "prior" : calibration.method;
}

/** A version for a model of a provider's list, under its name there. */
export function versionOfListing({ provider, model, tier, embedded }: ListedModel): DecisionVersion {
  const route = { provider, model, path: "", priority: 1, weight: 1 };
  const spec: BackendSpec = {
    kind: systemone.kind,
    routes: [route],
    limits: {},
    orders: 1,
    concurrency: LISTED_CONCURRENCY,
    revision: REVISION,
    minLabelMass: 0,
  };
  return {
    id: model,
    origin: model,
    name: embedded?.name ?? model,
    description: embedded?.description ?? "",
    tier: isTierId(tier) ? tier : "free",
    spec,
    calibration: UNCALIBRATED,
    hash: hashOf(spec, UNCALIBRATED),
    createdAtMs: null,
    ...(embedded === undefined ? { floating: true } : { embedded: true }),
    metrics: null,
  };
}

/** A decision model of a provider's own list. */
export interface ListedModel {
  readonly provider: string;
  readonly model: string;
  readonly tier: string;
  /** Set for a model inside the program. */
  readonly embedded?: { readonly name: string; readonly description: string };
}

/** The same number as the default of the configuration. */
const LISTED_CONCURRENCY = 20;

/** A version from the store, with the current names and plan of its origin. Undefined if the row cannot be read. */
export function versionOfRow(row: StoredVersion, origin: DecisionVersion): DecisionVersion | undefined {
  const calibration = readCalibration(row.record["calibration"]);
  const spec = row.record["spec"];
  if (calibration === undefined || !isRecord(spec)) return undefined;
  return {
    ...origin,
    id: row.id,
    name: row.id === origin.id ? origin.name : row.id,
    spec: {
      ...(spec as unknown as BackendSpec),
      revision: revisionOf(row, calibration),
      // The operator decides when an answer is too uncertain; this does not change the answer.
      minLabelMass: origin.spec.minLabelMass,
    },
    calibration,
    hash: row.hash,
    createdAtMs: row.createdAtMs,
    metrics: row.metrics,
  };
}

/** The revision with which the row was stored, according to its hash; the current one if that cannot be told. */
function revisionOf({ hash, record }: StoredVersion, calibration: Calibration): number {
  const spec = record["spec"] as BackendSpec;
  const of = (revision: number) => hashOf({ ...spec, revision }, calibration) === hash;
  return of(LEGACY_REVISION) ? LEGACY_REVISION : REVISION;
}

/** False for a stored version whose prompts and formulas this release no longer has, so that its answers would differ. */
export function isAsStored({ spec, calibration, hash }: DecisionVersion): boolean {
  return hashOf(spec, calibration) === hash;
}

/** Whether a version uses the prompts and formulas of the previous release. */
export function isOutdatedVersion({ spec }: Pick<DecisionVersion, "spec">): boolean {
  return isFormer(spec);
}

/** The version with the prompts and formulas of this release. */
export function renewed(version: DecisionVersion): DecisionVersion {
  const spec = { ...version.spec, revision: REVISION };
  return { ...version, spec, hash: hashOf(spec, version.calibration) };
}

/** Whether the entry differs from the stored version with its id, apart from the revision. */
export function isEdited(stored: DecisionVersion, entry: DecisionVersion): boolean {
  const { revision, prior } = stored.spec;
  const spec = { ...entry.spec, revision, ...(entry.anyPrior === true ? { prior } : {}) };
  return hashOf(spec, entry.calibration) !== stored.hash;
}

/** The row in which a version is stored. */
export function rowOf(version: DecisionVersion): Omit<StoredVersion, "createdAtMs"> {
  const { id, origin, hash, spec, calibration, metrics } = version;
  return { id, origin, hash, record: { spec, calibration }, metrics };
}

/** The next version of a model, with another calibration and this release's prompts and formulas. */
export function recalibrated(version: DecisionVersion, id: string, calibration: Calibration): DecisionVersion {
  return { ...renewed({ ...version, calibration }), id, name: id, createdAtMs: null };
}

/** The next id: `x-1.2.3` becomes `x-1.3.0`, or a later one if that exists. An id without a version gets one. */
export function nextVersionId(id: string, taken: ReadonlySet<string>): string {
  const match = /^(.*?)(\d+)\.(\d+)\.(\d+)$/.exec(id);
  const [stem, major, minor] = match === null ? [`${id}-`, 1, -1] : [match[1]!, Number(match[2]), Number(match[3])];
  for (let next = minor + 1; ; next++) {
    const candidate = `${stem}${major}.${next}.0`;
    if (!taken.has(candidate)) return candidate;
  }
}

/** No calibration, for entries without one. */
export const WITHOUT_CALIBRATION: Calibration = UNCALIBRATED;

/**
 * The hash of what determines the answers. It does not include names, the plan, the limits of an upstream, concurrency, or a
 * second route to the same model.
 */
function hashOf(spec: BackendSpec, calibration: Calibration): string {
  const { asText, limitsDecide, hashed } = backendOf(spec);
  return sha256Hex(
    canonical({
      kind: spec.kind,
      models: [...new Set(spec.routes.map(({ model }) => model))].sort(),
      ...(asText ? { orders: spec.orders } : {}),
      // The previous revision only differed in its prompts.
      ...(isFormer(spec) ? (asText ? { prompt: LEGACY_REVISION } : {}) : { revision: spec.revision }),
      ...hashed?.(spec),
      // The number of options in a prompt affects the answers as well.
      ...(limitsDecide === true && Object.keys(spec.limits).length > 0 ? { limits: spec.limits } : {}),
      calibration,
      confidence: CONFIDENCE_FORMULA,
    }),
  );
}

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
