// The services of the program in one list. They are started and reconfigured in the order in which they were added, which is
// their order of dependency, and stopped in reverse.

import type { RoutePart } from "../http/join-routes.ts";

/** One part of the program; each member exists if the part has something to do. */
export interface Service {
  /** Its routes. */
  readonly routes?: RoutePart;
  /** Starts its work. What takes longer continues in the background. */
  start?(): void | Promise<void>;
  /** Begins work for which no answer waits, shortly after all have started. It is not called if the program stops before. */
  background?(): void | Promise<void>;
  /** Applies the current configuration. */
  reconfigure?(): void | Promise<void>;
  /** Stops its work. `drainMs`: how long current clients may take. */
  stop?(drainMs: number): void | Promise<void>;
}

/** The services of a program. */
export interface Lifecycle {
  /**
   * Adds a service after those that it depends on. One without `start` counts as started: `stop` releases what it has held
   * since it was built.
   */
  add<S extends Service>(name: string, service: S): S;
  /** The routes of the services added so far, in order. */
  routes(): RoutePart[];
  /** Starts them one after the other. If one fails, those that had started are stopped and its error is thrown. */
  start(): Promise<void>;
  /** Reconfigures each, in order; one that fails or is slow does not delay the others. */
  reconfigure(): void;
  /** Stops what had started, in reverse; one that fails does not prevent the others. A second call does nothing. */
  stop(drainMs: number): Promise<void>;
}

/** A failure that is only reported: the other services are reconfigured or stopped anyway. */
export type ServiceFailed = (service: string, step: "begin its work" | "reconfigure" | "stop", error: unknown) => void;

/** The first requests are answered before work begins for which no answer waits. */
const BACKGROUND_AFTER_MS = 100;

interface Entry {
  readonly name: string;
  readonly service: Service;
  started: boolean;
}

/** An empty list. */
export function createLifecycle(failed: ServiceFailed): Lifecycle {
  const entries: Entry[] = [];
  let background: ReturnType<typeof setTimeout> | undefined;

  /** Calls a step of each, in order; one that fails or is slow does not delay the others. */
  const all = (step: "background" | "reconfigure", told: "begin its work" | "reconfigure"): void => {
    for (const { name, service } of entries) {
      try {
        service[step]?.()?.catch((error: unknown) => failed(name, told, error));
      } catch (error) {
        failed(name, told, error);
      }
    }
  };

  const stop = async (drainMs: number): Promise<void> => {
    clearTimeout(background);
    for (const entry of entries.toReversed()) {
      if (!entry.started) continue;
      entry.started = false;
      try {
        await entry.service.stop?.(drainMs);
      } catch (error) {
        failed(entry.name, "stop", error);
      }
    }
  };

  return {
    add(name, service) {
      entries.push({ name, service, started: service.start === undefined });
      return service;
    },
    routes: () => entries.flatMap(({ service: { routes } }) => (routes === undefined ? [] : [routes])),
    async start() {
      for (const entry of entries) {
        try {
          await entry.service.start?.();
        } catch (error) {
          await stop(0);
          throw error;
        }
        entry.started = true;
      }
      background = setTimeout(() => all("background", "begin its work"), BACKGROUND_AFTER_MS);
    },
    reconfigure: () => all("reconfigure", "reconfigure"),
    stop,
  };
}
