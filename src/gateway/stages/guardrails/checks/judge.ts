// What a check is that does not find parts of a text, but judges all texts of a request or an answer together.

import type { AtOnce } from "../../../../base/at-once.ts";
import type { GuardedRequest, GuardSide } from "../tools.ts";

/** A text on its way, as a judge sees it: with what the guardrails before it put in the place of values. */
export interface JudgedText {
  readonly text: string;
  /** `parameter`: of a request, neither a message nor a tool. */
  readonly kind: "text" | "reasoning" | "arguments" | "parameter";
  /** Of an answer: the choice that it is a part of. */
  readonly choice: number;
  /** Of an answer: whether the gateway runs the tools that it calls, so that another one follows. */
  readonly isInterim?: boolean | undefined;
}

/** What is judged. */
export interface Judged {
  readonly side: GuardSide;
  readonly texts: readonly JudgedText[];
  readonly request: GuardedRequest;
  /** Aborts when the check is late, or nobody waits for it. */
  readonly signal: AbortSignal;
}

/** What becomes of the texts. `texts`: as many others, in their order. */
export type GuardVerdict = "allow" | "deny" | { readonly texts: readonly string[] };

/** Judges texts. What it throws is a failure of the check, never a verdict. */
export interface Judge {
  /** Whether a request may be on its way to a model while it is judged; nothing of the answer leaves before. */
  readonly isBeside: boolean;
  /** Whether it is there for the answers of clients' chats alone. */
  readonly readsAnswersOnly: boolean;
  judge(judged: Judged): AtOnce<GuardVerdict>;
}
