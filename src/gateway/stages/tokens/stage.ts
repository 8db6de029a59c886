// Reserves the tokens that a request may use, if its key has a limit of tokens a minute.

import { type AtOnce, whenThere } from "../../../base/at-once.ts";
import { lazily } from "../../../base/lazily.ts";
import type { ChatTurn, Stage, StageRun } from "../../centre/stage.ts";
import { defaultsFor } from "../../rules/policy.ts";

const wishOf = lazily(() => {
  const { tokenWish }: typeof import("../../usage/token-wish.ts") = require("../../usage/token-wish.ts");
  return tokenWish;
});

/** What was used by the rounds before is recorded, so a further one is reserved anew. */
const further: StageRun = { round: reserve };
const first: StageRun = { prepare: reserve, round: reserve };

/** The stage. Of several prompts, or models that are tried, the tokens are reserved once. */
export const tokensStage: Stage = {
  name: "tokens",
  open({ exchange: { tokens } }) {
    if (tokens === undefined) return undefined;
    return tokens.isReserved ? further : first;
  },
};

function reserve({ exchange: { tokens }, chat, model, format }: ChatTurn): AtOnce<undefined> {
  const wish = wishOf()(chat, model, defaultsFor(chat, model, format));
  return whenThere(
    whenThere(wish, (known) => tokens?.reserve(known)),
    () => undefined,
  );
}
