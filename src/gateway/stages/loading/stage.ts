// Answers requests that only load a model, or unload it. Providers keep their models loaded, so no upstream is asked.

import type { ChatTurn, Stage, StageAnswer, StageRun } from "../../centre/stage.ts";

/** The stage. */
export const loadingStage: Stage = {
  name: "loading",
  // The other formats refuse a request without messages.
  open: ({ chat, format }) => (chat.messages.length === 0 && format.loadsModels === true ? LOADING : undefined),
};

const LOADING: StageRun = { prepare: loaded };

function loaded({ body }: ChatTurn): StageAnswer {
  const unloads = /^(?:0[a-z]*|-0)$/.test(String(body["keep_alive"]));
  const rawReason = unloads ? "unload" : "load";
  return {
    why: rawReason,
    answer: () =>
      Promise.resolve({ events: [{ type: "start" }, { type: "finish", choice: 0, reason: "stop", rawReason }] }),
  };
}
