// Moves an alias to a version. The operator's command and page share these rules: the version must exist, the alias must not be a
// version itself, and a version that was measured as worse than its origin, or than the alias's current target, is refused.

import { isRecord } from "../../base/json-object.ts";
import type { DecisionStore } from "../../store/decisions/decisions.ts";
import { readMeasurement } from "../calibration/measurement.ts";
import type { DecisionModels } from "./models.ts";
import type { DecisionVersion } from "./versions.ts";

/** A request of the operator. */
export interface Promotion {
  readonly version: string;
  readonly alias: string;
  /** Whether to move the alias even if the version was measured as worse. */
  readonly force?: boolean;
}

/** The reason why an alias was not moved. The message is for the operator. */
export class PromotionRefused extends Error {
  readonly reason: "no_version" | "alias_unfit" | "worse";

  constructor(reason: PromotionRefused["reason"], message: string) {
    super(message);
    this.name = "PromotionRefused";
    this.reason = reason;
  }
}

/** Matches a valid alias. */
const ALIAS = /^[\w.:/@~+-]{1,200}$/;

/** Moves the alias and returns its previous target, or null if the alias is new. Throws `PromotionRefused`. */
export async function promoteVersion(
  { models, store }: { models: Pick<DecisionModels, "current">; store: Pick<DecisionStore, "setDecisionAlias"> },
  { version: id, alias, force = false }: Promotion,
): Promise<{ before: string | null }> {
  const { versions, aliases } = await models.current();
  const version = versions.get(id);
  if (version === undefined) throw new PromotionRefused("no_version", `there is no version ${JSON.stringify(id)}`);
  if (versions.has(alias)) {
    throw new PromotionRefused("alias_unfit", `${JSON.stringify(alias)} is a version, not an alias`);
  }
  if (!ALIAS.test(alias)) {
    throw new PromotionRefused("alias_unfit", "an alias has 1 to 200 letters, digits or . : / @ ~ + - _");
  }
  const worse = force ? null : reasonAgainst(version, versions.get(aliases.get(alias) ?? ""));
  if (worse !== null) throw new PromotionRefused("worse", worse);
  await store.setDecisionAlias(alias, id, { seed: false });
  return { before: aliases.get(alias) ?? null };
}

/**
 * Why no alias may be moved to the version: it is worse on held-out rows than its origin, or than the alias's current target.
 * Null if it may be moved.
 */
export function reasonAgainst(version: DecisionVersion, current?: DecisionVersion): string | null {
  const is = logLossOf(version.metrics, "after");
  if (is === undefined) return null;
  const worseThan = (was: number | undefined, whose: string) =>
    was !== undefined && is > was
      ? `${version.id} is worse on rows it was not fitted on: log-loss ${is.toFixed(4)} instead of ${was.toFixed(4)}${whose}`
      : null;
  const [mine, theirs] = [readMeasurement(version.metrics), readMeasurement(current?.metrics)];
  // Only figures for the same rows can be compared.
  const comparable = mine?.dataset !== undefined && mine.dataset.sha256 === theirs?.dataset?.sha256;
  const own = worseThan(logLossOf(version.metrics, "before"), "");
  return own ?? (comparable ? worseThan(theirs?.after.logLoss, ` of ${current?.id}`) : null);
}

/** The log loss, also of rows that contain too little to be shown. */
function logLossOf(metrics: DecisionVersion["metrics"], which: "before" | "after"): number | undefined {
  const part = metrics?.[which];
  const value = isRecord(part) ? part["logLoss"] : undefined;
  return typeof value === "number" ? value : undefined;
}
