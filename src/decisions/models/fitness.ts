// Which engines are fit to be read by their log probabilities. An engine is a route with its limits, and versions that share it
// share the verdict. This stores verdicts and makes no calls.

import type { BackendSpec, DecisionRoute } from "../backends/backend.ts";
import { backendOf } from "../backends/index.ts";
import type { DecisionVersion } from "./versions.ts";

/** An engine to judge. */
export interface Engine {
  readonly key: string;
  readonly route: DecisionRoute;
  /** A version with this route alone. */
  readonly spec: BackendSpec;
}

/** The engines of a version; none for backends that do not read log probabilities. */
export function enginesOf({ spec }: Pick<DecisionVersion, "spec">): Engine[] {
  if (backendOf(spec).readsLogprobs !== true) return [];
  const limits = Object.entries(spec.limits).sort(([a], [b]) => (a < b ? -1 : 1));
  return spec.routes.map((route) => {
    const { provider, model, path } = route;
    return { key: JSON.stringify([provider, model, path, limits]), route, spec: { ...spec, routes: [route] } };
  });
}

/** An engine that is not used, and the reason. */
export interface UnfitEngine {
  readonly provider: string;
  readonly model: string;
  readonly reason: string;
}

/** The verdicts on engines. */
export class Fitness {
  readonly #reasons = new Map<string, string>();

  /** Records a verdict; with `reason` "", the engine is fit. Returns true if it is newly found unfit. */
  judge({ key }: Engine, reason: string): boolean {
    if (reason === "") {
      this.#reasons.delete(key);
      return false;
    }
    const before = this.#reasons.get(key);
    this.#reasons.set(key, reason);
    return before !== reason;
  }

  /** Forgets all verdicts but those on these engines. */
  keep(engines: readonly Engine[]): void {
    const keys = new Set(engines.map(({ key }) => key));
    for (const key of this.#reasons.keys()) if (!keys.has(key)) this.#reasons.delete(key);
  }

  /** Why this engine is unfit; undefined if it is fit. */
  reasonAgainst({ key }: Engine): string | undefined {
    return this.#reasons.get(key);
  }

  /** The engines of the version that are not used. */
  unfitOf(version: Pick<DecisionVersion, "spec">): UnfitEngine[] {
    return enginesOf(version).flatMap(({ key, route: { provider, model } }) => {
      const reason = this.#reasons.get(key);
      return reason === undefined ? [] : [{ provider, model, reason }];
    });
  }

  /** False if every engine of the version is unfit. */
  isFit(version: Pick<DecisionVersion, "spec">): boolean {
    const engines = enginesOf(version);
    return engines.length === 0 || engines.some(({ key }) => !this.#reasons.has(key));
  }

  /** The version with its fit engines only, or with all of them if none is fit. */
  routesOf({ spec }: Pick<DecisionVersion, "spec">): BackendSpec {
    const fit = enginesOf({ spec }).filter(({ key }) => !this.#reasons.has(key));
    if (fit.length === 0 || fit.length === spec.routes.length) return spec;
    return { ...spec, routes: fit.map(({ route }) => route) };
  }
}
