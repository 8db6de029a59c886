// The beginning of a graceful stop: before anything else ends, the program says that it is leaving, to load balancers by
// `/readyz` and to the other nodes of its database. Wiring only.

import type { Config } from "../config/schema.ts";
import type { Node } from "./foundation.ts";

export interface DrainDeps {
  config(): Config;
  readonly node: Pick<Node, "announceLeaving">;
}

/** The state of the stop. Added last, so that it stops first. */
export function createDrain({ config, node }: DrainDeps) {
  let leaving = false;
  return {
    /** Whether the program is stopping. */
    isLeaving: () => leaving,
    service: {
      async stop(drainMs: number): Promise<void> {
        leaving = true;
        node.announceLeaving();
        // A stop that waits for nobody does not wait for load balancers either.
        const { drainDelayMs } = config().server;
        if (drainMs > 0 && drainDelayMs > 0) await Bun.sleep(drainDelayMs);
      },
    },
  };
}
