// Copies what is sent to providers and what they answer while the caller's key is being debugged. The client's side is copied at the
// edge, as it is for requests that are no chat.

import type { Stage } from "../../centre/stage.ts";

/** Lets the copy of the request see its calls. */
export const debuggingStage: Stage = {
  name: "debugging",
  open({ exchange: { wire } }) {
    return wire === undefined ? undefined : { prepare: () => ({ why: "debugging", transport: wire.transport }) };
  },
};
