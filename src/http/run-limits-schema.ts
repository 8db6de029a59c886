// The member `runs` of keys and projects, for the documentation alone.

import { Type } from "@sinclair/typebox";
import { orNull } from "./endpoint.ts";
import { RUN_LIMITS_MAX } from "./run-limits.ts";

const { usd, requests, repeats } = RUN_LIMITS_MAX;
const MEMBERS = {
  usd: orNull(Type.Number({ minimum: 0, maximum: usd, description: "US dollars that a run may cost." })),
  requests: orNull(Type.Integer({ minimum: 0, maximum: requests, description: "Requests of a run." })),
  repeats: orNull(Type.Integer({ minimum: 0, maximum: repeats, description: "Equal tool calls in a row of a run." })),
};

/** The limits in an answer; null: none. */
export function runLimits(description: string) {
  return Type.Object(MEMBERS, { description: `${description} Null: none.` });
}

/** The limits in a body. */
export function optionalRuns(description: string) {
  return Type.Optional(
    orNull(
      Type.Partial(Type.Object(MEMBERS), { description: `${description} What is absent stays; null or 0: none.` }),
    ),
  );
}
