// The services of the program in one list. They are started and reconfigured in the order in which they were added, which is
// the order in which they depend on each other, and stopped in reverse.

import type { AnyElysia } from "elysia";

/** One part of the program; each member is there where the part has something to do. */
export interface Service {
  /** What it answers. */
  readonly routes?: AnyElysia;
  /** Begins its work. What takes longer than a moment continues in the background. */
  start?(): void | Promise<void>;
  /** Takes the configuration as it is now. */
  reconfigure?(): void | Promise<void>;
  /** Ends its work. `drainMs`: how long clients who are being served may take. */
  stop?(drainMs: number): void | Promise<void>;
}

/** The services of a program. */
export interface Lifecycle {
  /**
   * Adds a service below those that it depends on. One without `start` counts as started: what it holds since it was built
   * is given back by `stop`.
   */
  add<S extends Service>(name: string, service: S): S;
  /** What the services added so far answer, in their order. */
  routes(): AnyElysia[];
  /** Starts them one after the other. When one fails, those that had started are stopped and its error is thrown. */
  start(): Promise<void>;
  /** Has each take the configuration, in order; one that fails or takes long does not keep it from the others. */
  reconfigure(): void;
  /** Stops what had started, in reverse; one that fails does not keep the others running. A second call does nothing. */
  stop(drainMs: number): Promise<void>;
}

/** A failure that ends nothing: the other services are reconfigured or stopped all the same. */
export type ServiceFailed = (service: string, step: "reconfigure" | "stop", error: unknown) => void;

interface Entry {
  readonly name: string;
  readonly service: Service;
  started: boolean;
}

/** An empty list. */
export function createLifecycle(failed: ServiceFailed): Lifecycle {
  const entries: Entry[] = [];

  const stop = async (drainMs: number): Promise<void> => {
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
    },
    reconfigure() {
      for (const { name, service } of entries) {
        try {
          service.reconfigure?.()?.catch((error: unknown) => failed(name, "reconfigure", error));
        } catch (error) {
          failed(name, "reconfigure", error);
        }
      }
    },
    stop,
  };
}
