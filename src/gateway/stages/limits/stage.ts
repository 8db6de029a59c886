// The limits of the model: what an inserted history needs of it, an output limit above its own, and its context.

import type { ModelRoute } from "../../../catalog/models.ts";
import type { Provider } from "../../../upstream/provider.ts";
import { clientName } from "../../../wire/client-names.ts";
import type { ChatTurn, Stage, StageRun } from "../../centre/stage.ts";
import { mayBeTooLong, refuseTooLong } from "../../rules/context-window.ts";
import { checkAgainstModel, historyParam, lowered, refuseImages } from "../../rules/policy.ts";

/** Checks what was inserted, and lowers an output limit. */
export const limitsStage: Stage = {
  name: "limits",
  open(turn) {
    const { body, model, format, chat, before } = turn;
    // The inserted history may contain images and tools that this model does not support.
    if (before !== undefined) {
      refuseImages({ ...body, ...turn.members }, model, historyParam(body) ?? format.turns);
      checkAgainstModel(chat, model, turn);
    }
    if (format.lowersLimit !== true) return undefined;
    const low = lowered(chat, model, turn);
    return low === undefined ? undefined : lowering(low, turn);
  },
};

function lowering(low: NonNullable<ReturnType<typeof lowered>>, { format, body }: ChatTurn): StageRun {
  return {
    prepare: ({ content, members }) => ({
      why: "limits",
      chat: low.chat,
      content: { ...content, ...low.members },
      members: members && { ...members, ...low.members },
      dropped: low.dropped.flatMap((name) => clientName(format, name, body) ?? []),
    }),
  };
}

/** Creates the stage that refuses a prompt which is certainly too long. A conversation that may be shortened is counted then. */
export function createWindowStage(provider: (name: string) => Provider | undefined): Stage {
  return {
    name: "window",
    open(turn) {
      const { chat, model } = turn;
      if (turn.isShortenable !== true && model.known.contextLength && mayBeTooLong(chat, model)) refuse(turn, provider);
      return undefined;
    },
  };
}

function refuse(turn: ChatTurn, provider: (name: string) => Provider | undefined): void {
  const { chat, body, model } = turn;
  refuseTooLong(chat, { body, betas: () => betasOf(turn, provider) }, model);
}

/** The client's betas, and the operator's headers, in which there may be further ones. */
function betasOf({ options, routes }: ChatTurn, find: (name: string) => Provider | undefined): string {
  const headersOf = ({ provider }: ModelRoute) => Object.values(find(provider)?.extraHeaders ?? {});
  return [options.betas ?? "", ...routes.flatMap(headersOf)].join();
}
