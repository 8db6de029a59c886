// The operator's view of decision models: every version that can be used, its basis and its measured quality. The values are
// plain, so that a page can show them directly. Nothing here is for clients.

import type { TierId } from "../../config/schema.ts";
import type { StoredSighting } from "../../store/decisions/decisions.ts";
import type { BucketParameters } from "../calibration/calibration.ts";
import { type Measurement, readMeasurement } from "../calibration/measurement.ts";
import type { QuestionType } from "../questions.ts";
import { type DecisionSnapshot, outdated } from "./models.ts";
import { reasonAgainst } from "./promote.ts";
import { correctionOf, type DecisionVersion, isAsStored, isOutdatedVersion } from "./versions.ts";
import type { DecisionHealth } from "./watch.ts";

/** The parameters for one type of question and number of options. */
export interface ShownParameters extends BucketParameters {
  readonly type: QuestionType;
  /** The number of options: `2`, `3-5`, `6-20` or `>20`. */
  readonly options: string;
}

/** One version of a decision model. */
export interface ShownVersion {
  readonly id: string;
  /** The entry of the configuration from which it derives. */
  readonly origin: string;
  readonly name: string;
  readonly description: string;
  readonly tier: TierId;
  /** The aliases that point to it. */
  readonly aliases: readonly string[];
  readonly backend: string;
  readonly routes: readonly { readonly provider: string; readonly model: string }[];
  /** US dollars for a million input tokens, as configured or publicly known; null if unknown. */
  readonly inputPrice: number | null;
  /** The SHA-256 of everything that determines its answers. */
  readonly hash: string;
  /** Null for a model that is offered because a provider lists it. */
  readonly createdAtMs: number | null;
  readonly calibration: "none" | "prior" | "fitted";
  /** By type of question, then by number of options; empty without a fit. */
  readonly parameters: readonly ShownParameters[];
  /** The dataset, accuracy, majority rate, log loss, Brier score, calibration error with its interval, and reliability bins. */
  readonly measured: Measurement | null;
  /** The names of the models that answered for it, as its upstreams state them, oldest first. */
  readonly sightings: readonly Omit<StoredSighting, "version">[];
  /** Whether one of its upstreams now reports another model name. */
  readonly drifted: boolean;
  /** Whether it answers like the previous release, which only this release supports; create its successor. */
  readonly outdated: boolean;
  /** Why it is not listed; null if it is. */
  readonly unfit: string | null;
  /** Why no alias may be moved to it; null if one may. */
  readonly worse: string | null;
  /** Further remarks for the operator, one sentence each. */
  readonly notes: readonly string[];
}

/** All versions that can be used now, in the order of the configuration. */
export function decisionOverview(
  { versions, aliases }: DecisionSnapshot,
  {
    sightings,
    health,
    priceOf,
  }: {
    sightings: readonly StoredSighting[];
    health: DecisionHealth;
    priceOf(version: DecisionVersion): number | null;
  },
): ShownVersion[] {
  return [...versions.values()].map((version) => ({
    id: version.id,
    origin: version.origin,
    name: version.name,
    description: version.description,
    tier: version.tier,
    aliases: [...aliases].filter(([, target]) => target === version.id).map(([alias]) => alias),
    backend: version.spec.kind,
    routes: version.spec.routes.map(({ provider, model }) => ({ provider, model })),
    inputPrice: priceOf(version),
    hash: version.hash,
    createdAtMs: version.createdAtMs,
    calibration: correctionOf(version),
    parameters: parametersOf(version),
    measured: readMeasurement(version.metrics) ?? null,
    sightings: sightings.filter((one) => one.version === version.id).map(({ version: _, ...seen }) => seen),
    drifted: health.drifted.includes(version.id),
    outdated: isOutdatedVersion(version),
    unfit: health.unfit.find(({ model }) => model === version.id)?.reason ?? null,
    worse: reasonAgainst(version),
    notes: notesOn(version, health),
  }));
}

function notesOn(version: DecisionVersion, health: DecisionHealth): string[] {
  const notes = health.unfit_routes
    .filter(({ model }) => model === version.id)
    .map(({ provider, reason }) => `The route by ${provider} is not used: ${reason}.`);
  if (version.createdAtMs !== null && !isAsStored(version)) {
    notes.push(
      "It was made by a release with other prompts, so its measurements may no longer hold. Calibrate it again.",
    );
  }
  if (isOutdatedVersion(version)) notes.push(outdated(version));
  if (version.edited === true) {
    notes.push(
      "Its entry in the configuration was changed. It still answers as it was first defined. Give the changed one a new id.",
    );
  }
  return notes;
}

function parametersOf({ calibration }: DecisionVersion): ShownParameters[] {
  return Object.entries(calibration.buckets)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([bucket, parameters]) => {
      const [type, options = "2"] = bucket.split(":");
      return { ...parameters, type: type as QuestionType, options };
    });
}
