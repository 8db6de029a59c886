// Copies what is sent to providers and what they answer while the caller's key is being debugged. The client's side is copied at the
// edge, as it is for requests that are no chat.

import type { ChatTurn, Stage, StageRun } from "../../centre/stage.ts";

/** Lets the copy of the request see its calls. */
export const debuggingStage: Stage = {
  name: "debugging",
  open({ exchange: { wire } }) {
    return wire === undefined ? undefined : copying(wire.transport);
  },
};

function copying(transport: NonNullable<ChatTurn["transport"]>): StageRun {
  return { prepare: () => ({ why: "debugging", transport }) };
}
