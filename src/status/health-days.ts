// The daily health of the listed models: how often each was judged healthy, degraded or unavailable. It is stored for
// 90 days, for the public status page, and survives restarts. Several nodes may add to it; a crash loses some minutes.

import type { Clock } from "../base/clock.ts";
import type { ModelStatus } from "./model-health.ts";

/** The number of judgements of each kind on one day. */
export interface HealthDay {
  readonly healthy: number;
  readonly degraded: number;
  readonly unavailable: number;
}

/** Named JSON values that survive a restart. */
export interface HealthDaysStore {
  readSetting(name: string): Promise<unknown>;
  changeSetting<T>(name: string, change: (value: unknown) => T): Promise<T>;
}

export interface HealthDaysDeps {
  readonly clock: Clock;
  readonly store: HealthDaysStore;
  /** Called when storing fails. The counts are kept for the next attempt. */
  problem(error: unknown): void;
}

/** Counts judgements and stores them. */
export interface HealthDays {
  /** Counts a round of judgements. */
  count(models: readonly { readonly id: string; readonly status: ModelStatus }[]): void;
  /** A model's days up to today, oldest first; undefined if nothing is known about it. */
  daysOf(model: string): readonly (HealthDay | undefined)[];
  start(): Promise<void>;
  /** Stores the counts since the last call. */
  save(): Promise<void>;
  stop(): Promise<void>;
}

/** The number of days that are stored and shown. */
export const HEALTH_DAYS = 90;
const SETTING = "model_health_days";
const SAVE_EVERY_MS = 10 * 60_000;
/** The limit of models that are stored, so that the record stays small. The first ones are kept. */
const MODELS_MAX = 300;
const DAY_MS = 86_400_000;

/** Day → model → healthy, degraded, unavailable. */
type Counts = Map<number, Map<string, [number, number, number]>>;

const PLACES: Readonly<Record<Exclude<ModelStatus, "unknown">, 0 | 1 | 2>> = {
  healthy: 0,
  degraded: 1,
  unavailable: 2,
};

/** Creates an empty record. */
export function createHealthDays({ clock, store, problem }: HealthDaysDeps): HealthDays {
  let kept: Counts = new Map();
  let fresh: Counts = new Map();
  let timer: ReturnType<typeof setInterval> | undefined;
  let saving: Promise<void> = Promise.resolve();
  const today = () => Math.floor(clock.now() / DAY_MS);

  const write = async (): Promise<void> => {
    const added = fresh;
    if (added.size === 0) return;
    fresh = new Map();
    try {
      const stored = await store.changeSetting(SETTING, (value) => {
        const merged = countsOf(value);
        addTo(merged, added);
        for (const day of merged.keys()) if (day <= today() - HEALTH_DAYS || day > today()) merged.delete(day);
        return asSetting(merged);
      });
      kept = countsOf(stored);
    } catch (error) {
      addTo(fresh, added);
      problem(error);
    }
  };
  const save = (): Promise<void> => {
    saving = saving.then(write);
    return saving;
  };

  return {
    count(models) {
      const round = new Map(
        models.slice(0, MODELS_MAX).flatMap(({ id, status }) => {
          // A day of which nothing is known is shown as such.
          if (status === "unknown") return [];
          const one: [number, number, number] = [0, 0, 0];
          one[PLACES[status]] = 1;
          return [[id, one] as const];
        }),
      );
      addTo(fresh, new Map([[today(), round]]));
    },
    daysOf: (model) =>
      Array.from({ length: HEALTH_DAYS }, (_, index) => {
        const day = today() - HEALTH_DAYS + 1 + index;
        const counts = [kept, fresh].flatMap((one) => one.get(day)?.get(model) ?? []);
        if (counts.length === 0) return undefined;
        const sum = (place: number) => counts.reduce((all, count, at) => all + (at % 3 === place ? count : 0), 0);
        return { healthy: sum(0), degraded: sum(1), unavailable: sum(2) };
      }),
    async start() {
      timer = setInterval(() => void save(), SAVE_EVERY_MS);
      timer.unref();
      try {
        kept = countsOf(await store.readSetting(SETTING));
      } catch (error) {
        problem(error);
      }
    },
    save,
    async stop() {
      clearInterval(timer);
      await save();
    },
  };
}

function addTo(sum: Counts, more: Counts): void {
  for (const [day, models] of more) {
    const known = sum.get(day) ?? new Map<string, [number, number, number]>();
    sum.set(day, known);
    for (const [model, [healthy, degraded, unavailable]] of models) {
      const [a, b, c] = known.get(model) ?? [0, 0, 0];
      known.set(model, [a + healthy, b + degraded, c + unavailable]);
    }
  }
}

function asSetting(counts: Counts) {
  return Object.fromEntries([...counts].map(([day, models]) => [String(day), Object.fromEntries(models)]));
}

/** The stored record; empty if it cannot be read. */
function countsOf(value: unknown): Counts {
  const counts: Counts = new Map();
  if (typeof value !== "object" || value === null) return counts;
  for (const [day, models] of Object.entries(value)) {
    if (!/^\d+$/.test(day) || typeof models !== "object" || models === null) continue;
    const good = Object.entries(models as Record<string, unknown>).flatMap(([id, count]) => {
      const isCount = Array.isArray(count) && count.length === 3 && count.every((one) => Number.isSafeInteger(one));
      return isCount ? [[id, count as [number, number, number]] as const] : [];
    });
    counts.set(Number(day), new Map(good));
  }
  return counts;
}
