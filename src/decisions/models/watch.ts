// Watches what versions depend on. Drift: the upstream of a pinned version reports another model name. Fitness: an engine that is
// read by log probabilities returns none, or its answers are not among the option letters. Such an engine is not used, and a
// version without another engine is not listed.

import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import type { DecisionStore, Sighting } from "../../store/decisions/decisions.ts";
import {
  type BackendAnswer,
  type BackendSpec,
  type DecisionRoute,
  inParallel,
  type Upstream,
} from "../backends/backend.ts";
import type { CallDeadline } from "../backends/calls.ts";
import { MASS_FIT, massReason, probeEngine } from "./engine-probe.ts";
import { type Engine, enginesOf, Fitness, type UnfitEngine } from "./fitness.ts";
import type { DecisionVersion } from "./versions.ts";

/** What a version's upstream reports, and what it reported before. */
export interface Drift {
  readonly version: string;
  readonly provider: string;
  readonly now: string;
  readonly fingerprint: string;
  readonly before: string;
}

/** What the watch needs. */
export interface VersionWatchDeps {
  store: Pick<DecisionStore, "noteSighting" | "listSightings">;
  versions(): Promise<readonly DecisionVersion[]>;
  upstream(spec: BackendSpec, deadline: CallDeadline): Upstream;
  clock: Clock;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  /** Called when a version has drifted, perhaps more than once. */
  drifted?(drift: Drift): void;
  /** The interval of probes: half an hour, in tests less. */
  probeEveryMs?: number;
}

/** The part of `/health` about decision models. */
export interface DecisionHealth {
  readonly status: "ok" | "degraded" | "disabled";
  readonly models: number;
  /** Models that are not listed, because none of their engines is fit. */
  readonly unfit: readonly { model: string; reason: string }[];
  /** Engines that are not used, of models that have others. */
  readonly unfit_routes: readonly { model: string; provider: string; reason: string }[];
  /** Models whose upstream has reported different names over time. */
  readonly drifted: readonly string[];
}

const PROBE_EVERY_MS = 30 * 60_000;
const PROBE_TIMEOUT_MS = 30_000;
/** The number of engines that are probed at once. */
const PROBES_AT_ONCE = 4;
/**
 * The least interval between probes of an engine that real answers cast doubt on, so that callers' input cannot cause many calls.
 */
const DOUBT_EVERY_MS = 60_000;
/** A real answer whose labels have a lower total probability casts doubt on the engine. */
const MASS_UNFIT = 0.5;
/** Maximum number of cached sightings, so that only new ones are written. */
const KNOWN_MAX = 10_000;

/** The watch. `start` begins the probes. */
export class DecisionWatch {
  readonly #deps: VersionWatchDeps;
  readonly #known = new Set<string>();
  readonly #fitness = new Fitness();
  readonly #drifted = new Set<string>();
  readonly #doubtedMs = new Map<string, number>();
  #timer: ReturnType<typeof setInterval> | undefined;
  /** The current round of probes. Results of earlier rounds, from before a change, are ignored. */
  #round = 0;
  readonly #stopped = new AbortController();

  constructor(deps: VersionWatchDeps) {
    this.#deps = deps;
  }

  /** False for a version without a fit engine. */
  isFit(version: DecisionVersion): boolean {
    return this.#fitness.isFit(version);
  }

  /** The version without its unfit engines, if it has others. */
  asAsked(version: DecisionVersion): BackendSpec {
    return this.#fitness.routesOf(version);
  }

  /** Whether the upstream of a pinned version names another one. It is recorded, as the answer is not used. */
  isOther(version: DecisionVersion, route: DecisionRoute, upstreamModel: string): boolean {
    if (version.floating === true || !isOtherVersion(route.model, upstreamModel)) return false;
    this.#record(version, { upstreamModel, route });
    return true;
  }

  /** Records which model answered. Never throws, since the answer is already being sent. */
  answered(version: DecisionVersion, answer: BackendAnswer): void {
    const { route, labelMass } = answer;
    if (labelMass !== undefined) this.#weigh(version, route, labelMass);
    this.#record(version, answer);
  }

  #record(
    version: DecisionVersion,
    { upstreamModel = "", fingerprint = "", route }: Pick<BackendAnswer, "upstreamModel" | "fingerprint" | "route">,
  ): void {
    if (upstreamModel === "" && fingerprint === "") return;
    const sighting = { version: version.id, provider: route.provider, upstreamModel, fingerprint };
    const key = JSON.stringify(sighting);
    if (this.#known.has(key)) return;
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.add(key);
    if (version.floating !== true && isOtherVersion(route.model, upstreamModel)) this.#isOther(sighting, route.model);
    this.#deps.store.noteSighting(sighting).then(
      (others) => this.#compare(sighting, others),
      (error: unknown) =>
        this.#deps.warn("the model that answered for a decision model could not be recorded", { error }),
    );
  }

  /** Probes the version's engines again soon, because an answer was unusable. */
  doubt(version: DecisionVersion): void {
    if (!this.probes) return;
    for (const engine of enginesOf(version)) this.#doubt(engine);
  }

  /** Reads the drift that was recorded earlier. */
  async restore(): Promise<void> {
    const seen = new Map<string, Sighting>();
    const versions = new Map((await this.#deps.versions()).map((version) => [version.id, version]));
    for (const sighting of await this.#deps.store.listSightings()) {
      const version = versions.get(sighting.version);
      const pinned = version?.spec.routes.filter(({ provider }) => provider === sighting.provider) ?? [];
      if (version?.floating !== true && pinned.some(({ model }) => isOtherVersion(model, sighting.upstreamModel))) {
        this.#drifted.add(sighting.version);
      }
      const key = JSON.stringify([sighting.version, sighting.provider]);
      const first = seen.get(key);
      if (first === undefined) seen.set(key, sighting);
      else this.#differs(sighting, [first]);
    }
  }

  /** Probes the engines now and at intervals. */
  async start(): Promise<void> {
    if (this.#timer !== undefined || this.#stopped.signal.aborted) return;
    const again = () =>
      void this.probe().catch((error: unknown) =>
        this.#deps.warn("the engines of decision models could not be probed", { error }),
      );
    this.#timer = setInterval(again, this.#deps.probeEveryMs ?? PROBE_EVERY_MS);
    await this.probe();
  }

  /** Whether probing is on: after `start` and before `pause`. */
  get probes(): boolean {
    return this.#timer !== undefined;
  }

  /** Stops the probes and forgets their results, as nothing would ever correct them. */
  pause(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#round += 1;
    this.#fitness.keep([]);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#stopped.abort(new ApiError("decision_unavailable", "The gateway is stopping."));
  }

  /** Asks every engine with log probabilities one easy question. */
  async probe(): Promise<void> {
    const round = ++this.#round;
    const engines = new Map<string, Engine>();
    for (const version of await this.#deps.versions()) {
      for (const engine of enginesOf(version)) engines.set(engine.key, engine);
    }
    if (round !== this.#round) return;
    this.#fitness.keep([...engines.values()]);
    const jobs = [...engines.values()].map((engine) => () => this.#judge(engine, round));
    await inParallel(jobs, PROBES_AT_ONCE);
  }

  /** The state for `/health`. */
  async health(): Promise<DecisionHealth> {
    const versions = await this.#deps.versions();
    const ids = new Set(versions.map(({ id }) => id));
    const unfit: { model: string; reason: string }[] = [];
    const passedOver: { model: string; provider: string; reason: string }[] = [];
    for (const version of versions) {
      const engines = this.#fitness.unfitOf(version);
      if (!this.#fitness.isFit(version)) unfit.push({ model: version.id, reason: reasonOf(engines) });
      else for (const { provider, reason } of engines) passedOver.push({ model: version.id, provider, reason });
    }
    const drifted = [...this.#drifted].filter((id) => ids.has(id));
    const troubled = unfit.length + passedOver.length + drifted.length > 0;
    const status = versions.length === 0 ? "disabled" : troubled ? "degraded" : "ok";
    return { status, models: versions.length, unfit, unfit_routes: passedOver, drifted };
  }

  async #judge(engine: Engine, round = this.#round): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]);
    const upstream = this.#deps.upstream(engine.spec, { signal, remainingMs: () => 0 });
    const reason = await probeEngine(engine.spec, upstream);
    if (reason !== undefined && round === this.#round) this.#note(engine, reason);
  }

  /**
   * Handles a real answer that casts doubt on its engine, or that is good although the engine was found unfit. The caller's input
   * may be the reason, so the engine is probed again. Only if probing is disabled does the answer itself decide.
   */
  #weigh(version: DecisionVersion, { provider, model, path }: BackendAnswer["route"], mass: number): void {
    const engine = enginesOf(version).find(
      ({ route }) => route.provider === provider && route.model === model && route.path === path,
    );
    if (engine === undefined) return;
    const unfit = this.#fitness.reasonAgainst(engine) !== undefined;
    if (unfit ? mass < MASS_FIT : mass >= MASS_UNFIT) return;
    if (this.#timer === undefined) this.#note(engine, unfit ? "" : massReason(mass));
    else this.#doubt(engine);
  }

  #doubt(engine: Engine): void {
    const now = this.#deps.clock.now();
    const last = this.#doubtedMs.get(engine.key) ?? Number.NEGATIVE_INFINITY;
    if (Math.abs(now - last) < DOUBT_EVERY_MS) return;
    if (this.#doubtedMs.size >= KNOWN_MAX) this.#doubtedMs.clear();
    this.#doubtedMs.set(engine.key, now);
    void this.#judge(engine);
  }

  #note(engine: Engine, reason: string): void {
    if (!this.#fitness.judge(engine, reason)) return;
    const { provider, model } = engine.route;
    this.#deps.warn("an engine of decision models is no longer used", { provider, model, reason });
  }

  /** If a version is requested by its name and the upstream reports another one, this is drift from the first answer on. */
  #isOther({ version, provider, upstreamModel: now, fingerprint }: Sighting, pinned: string): void {
    this.#drifted.add(version);
    const drift = { provider, now, fingerprint, before: pinned };
    this.#deps.warn("the upstream of a pinned decision model reports another version", { model: version, ...drift });
    this.#deps.drifted?.({ version, ...drift });
  }

  #compare(sighting: Sighting, others: readonly Sighting[]): void {
    if (others.length === 0 || !this.#differs(sighting, others)) return;
    const { version, provider, upstreamModel: now, fingerprint } = sighting;
    const drift = { provider, now, fingerprint, before: others[0]!.upstreamModel };
    this.#deps.warn("the upstream of a pinned decision model reports another name than before", {
      model: version,
      ...drift,
    });
    this.#deps.drifted?.({ version, ...drift });
  }

  /** Another model is drift. At some upstreams, the fingerprint alone changes with every deployment; this counts too. */
  #differs(sighting: Sighting, others: readonly Sighting[]): boolean {
    const differs = others.some(
      (other) => other.upstreamModel !== sighting.upstreamModel || other.fingerprint !== sighting.fingerprint,
    );
    if (differs) this.#drifted.add(sighting.version);
    return differs;
  }
}

/**
 * True for `jev-1.13.0` and `jev-1.14.0`, and for `jev-1` and `jev-9`, but not for `jev-1.13` and `jev-1.13.0`, nor for names without
 * a version.
 */
export function isOtherVersion(pinned: string, named: string): boolean {
  const [own, other] = [pinned, named].map((name) => PLAIN_VERSION.exec(name.toLowerCase())?.groups);
  // A number without points is a version only where the names are the same but for it. Some hosts leave the points out
  // (`gpt-35-turbo` for `gpt-3.5-turbo`).
  if (own !== undefined && other !== undefined && own["name"] === other["name"] && own["major"] !== other["major"]) {
    const [mine, theirs] = [own, other].map(({ major, rest }) => `${major}${rest}`.replaceAll(".", ""));
    return mine !== theirs;
  }
  const [mine, theirs] = [pinned, named].map((name) => VERSION.exec(name)?.[0].split("."));
  if (mine === undefined || theirs === undefined) return false;
  return mine.some((part, at) => theirs[at] !== undefined && theirs[at] !== part);
}

/** Matches `jev-1`, `maker/jev-1` and `jev-1.13.0`: a name, and the first number of its version. */
const PLAIN_VERSION = /^(?:.*\/)?(?<name>[a-z][a-z_-]*-v?)(?<major>\d+)(?<rest>(?:\.\d+)*)(?:$|-)/;

/** Matches the version in a model's name: numbers separated by points, at the end or before a `-`. */
const VERSION = /(?<![\d.])\d+(?:\.\d+)+(?=$|-)/;

/** Why a version is not listed: the reason of each engine if there are several. */
function reasonOf(engines: readonly UnfitEngine[]): string {
  const reasons = new Set(engines.map(({ reason }) => reason));
  if (reasons.size === 1) return engines[0]!.reason;
  return engines.map(({ provider, reason }) => `${provider}: ${reason}`).join("; ");
}
