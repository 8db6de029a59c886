// Keeps an eye on what versions rest on. Drift: a pinned version whose upstream begins to name itself otherwise. Fitness: a
// version read from log-probabilities whose engine shows none, or puts its answers elsewhere than in the letters.

import type { Clock } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import type { DecisionStore, Sighting } from "../store/decisions.ts";
import { type BackendAnswer, NonsenseAnswer, type Upstream } from "./backends/backend.ts";
import { BACKENDS } from "./backends/index.ts";
import type { Deadline } from "./calls.ts";
import type { Question } from "./questions.ts";
import type { DecisionVersion } from "./versions.ts";

export interface WatchDeps {
  store: Pick<DecisionStore, "noteSighting" | "listSightings">;
  versions(): Promise<readonly DecisionVersion[]>;
  upstream(version: DecisionVersion, deadline: Deadline): Upstream;
  clock: Clock;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  /** Half an hour unless a test is in a hurry. */
  probeEveryMs?: number;
}

/** What `/health` says of decision models. */
export interface DecisionHealth {
  readonly status: "ok" | "degraded" | "disabled";
  readonly models: number;
  readonly unfit: readonly { model: string; reason: string }[];
  /** Models whose upstream named itself otherwise over time. */
  readonly drifted: readonly string[];
}

const PROBE_EVERY_MS = 30 * 60_000;
const PROBE_TIMEOUT_MS = 30_000;
/** Where the letters have less together, the engine answers something else first. */
const MASS_FIT = 0.9;
/** One real answer with less than this is reason enough. */
const MASS_UNFIT = 0.5;
/** Sightings held in memory, so that only news is written. */
const KNOWN_MAX = 10_000;

/** The watch; `start` begins the probes. */
export class DecisionWatch {
  readonly #deps: WatchDeps;
  readonly #known = new Set<string>();
  readonly #unfit = new Map<string, string>();
  readonly #drifted = new Set<string>();
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #stopped = new AbortController();

  constructor(deps: WatchDeps) {
    this.#deps = deps;
  }

  /** False for a version whose engine failed its probe. */
  isFit(version: DecisionVersion): boolean {
    return !this.#unfit.has(version.id);
  }

  /** Notes what answered. Never throws: the answer is already on its way. */
  answered(version: DecisionVersion, answer: BackendAnswer): void {
    const { upstreamModel = "", fingerprint = "", route, labelMass } = answer;
    if (labelMass !== undefined && labelMass >= MASS_FIT) this.#unfit.delete(version.id);
    else if (labelMass !== undefined && labelMass < MASS_UNFIT) this.#takeOut(version.id, massReason(labelMass));
    if (upstreamModel === "" && fingerprint === "") return;
    const sighting = { version: version.id, provider: route.provider, upstreamModel, fingerprint };
    const key = JSON.stringify(sighting);
    if (this.#known.has(key)) return;
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.add(key);
    this.#deps.store.noteSighting(sighting).then(
      (others) => this.#compare(sighting, others),
      (error: unknown) => this.#deps.warn("what answered for a decision model could not be noted", { error }),
    );
  }

  /** Reads what drifted before. */
  async restore(): Promise<void> {
    const seen = new Map<string, Sighting>();
    for (const sighting of await this.#deps.store.listSightings()) {
      const key = JSON.stringify([sighting.version, sighting.provider]);
      const first = seen.get(key);
      if (first === undefined) seen.set(key, sighting);
      else this.#note(sighting, [first]);
    }
  }

  /** Probes now and from then on. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.probe(), this.#deps.probeEveryMs ?? PROBE_EVERY_MS);
    await this.probe();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#stopped.abort(new ApiError("decision_unavailable", "The gateway is stopping."));
  }

  /** Asks every version that is read from log-probabilities one easy question. */
  async probe(): Promise<void> {
    for (const version of await this.#deps.versions()) {
      if (version.spec.kind !== "logprobs" || this.#stopped.signal.aborted) continue;
      const reason = await this.#reasonAgainst(version);
      // An upstream that could not be reached says nothing about its engine.
      if (reason === undefined) continue;
      if (reason === "") this.#unfit.delete(version.id);
      else this.#takeOut(version.id, reason);
    }
  }

  /** For `/health`. */
  async health(): Promise<DecisionHealth> {
    const versions = await this.#deps.versions();
    const ids = new Set(versions.map(({ id }) => id));
    const unfit = [...this.#unfit].filter(([id]) => ids.has(id)).map(([model, reason]) => ({ model, reason }));
    const drifted = [...this.#drifted].filter((id) => ids.has(id));
    const status = versions.length === 0 ? "disabled" : unfit.length + drifted.length > 0 ? "degraded" : "ok";
    return { status, models: versions.length, unfit, drifted };
  }

  async #reasonAgainst(version: DecisionVersion): Promise<string | undefined> {
    const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]);
    const upstream = this.#deps.upstream(version, { signal, remainingMs: () => 0 });
    const spec = { ...version.spec, orders: 1 };
    try {
      const questions = spec.limits["chosen_tokens"] === undefined ? [EASY] : [EASY, WIDE];
      const { labelMass = 1 } = await BACKENDS.logprobs.answer({ state: CLEAR_DAY, questions, spec }, upstream);
      if (labelMass >= MASS_FIT) return "";
      return massReason(labelMass);
    } catch (error) {
      if (error instanceof NonsenseAnswer) return error.message;
      return undefined;
    }
  }

  #takeOut(id: string, reason: string): void {
    if (this.#unfit.get(id) === reason) return;
    this.#unfit.set(id, reason);
    this.#deps.warn("a decision model is taken out of the list", { model: id, reason });
  }

  #compare(sighting: Sighting, others: readonly Sighting[]): void {
    if (others.length === 0 || !this.#note(sighting, others)) return;
    this.#deps.warn("the upstream of a pinned decision model names itself otherwise than before", {
      model: sighting.version,
      provider: sighting.provider,
      now: sighting.upstreamModel,
      fingerprint: sighting.fingerprint,
      before: others[0]!.upstreamModel,
    });
  }

  /** A model that differs is drift. A fingerprint alone changes with every deployment of some upstreams: drift too. */
  #note(sighting: Sighting, others: readonly Sighting[]): boolean {
    const differs = others.some(
      (other) => other.upstreamModel !== sighting.upstreamModel || other.fingerprint !== sighting.fingerprint,
    );
    if (differs) this.#drifted.add(sighting.version);
    return differs;
  }
}

function massReason(mass: number): string {
  return `its engine puts ${Math.floor(mass * 100)} % of the answer in the option letters; ${MASS_FIT * 100} % are needed`;
}

/** What the probe asks about; which letter wins is not judged, only that letters do. */
const CLEAR_DAY = "The sky is blue and the sun is shining.";

const EASY: Question = {
  key: "probe",
  type: "noul",
  instructions: "Is the sky blue?",
  options: [
    { label: "true", criterion: null },
    { label: "false", criterion: null },
  ],
};

/** More options than letters, for engines that are said to score chosen tokens. */
const WIDE: Question = {
  key: "wide",
  type: "choice",
  instructions: "What is shining?",
  options:
    "sun moon star lamp fire gold snow ice glass mirror sea lake river eye tooth coin ring sword armour candle torch lantern comet meteor aurora pearl opal amber brass tin salt sand"
      .split(" ")
      .map((label) => ({ label, criterion: null })),
};
