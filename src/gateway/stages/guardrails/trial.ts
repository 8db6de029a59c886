// Tries a guardrail on one text, as a request or an answer would meet it.

import type { Guardrail } from "./guardrail.ts";
import { Denied, GuardSession } from "./session.ts";
import type { GuardedRequest } from "./tools.ts";

/** Whether the guardrail finds something in the text, or denies it. Throws what the check fails with. */
export async function foundIn(guardrail: Guardrail, text: string, request: GuardedRequest): Promise<boolean> {
  const session = new GuardSession([{ ...guardrail, onError: "deny" }], request);
  try {
    if (!guardrail.on.includes("input")) {
      await session.pass("output", [{ text, kind: "text", choice: 0, isJson: false }]);
    } else if (session.asksBeside) await session.beside(text);
    else await session.learn([], text);
  } catch (error) {
    if (!(error instanceof Denied)) throw error;
    if (error.cause !== undefined) throw error.cause;
  }
  return session.takeCounts().length > 0;
}
