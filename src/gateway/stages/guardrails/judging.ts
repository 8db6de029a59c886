// Leads texts through guardrails in their order: those that find parts of a text, and those that judge all of them.

import { longStep } from "../../../base/long-steps.ts";
import type { GuardVerdict, JudgedText } from "./checks/judge.ts";
import type { Guardrail } from "./guardrail.ts";
import type { TextFlow } from "./scan.ts";
import type { GuardedRequest, GuardSide } from "./tools.ts";

/** A text of a request or an answer; guardrails change it where it stands. */
export interface PassingText extends Omit<JudgedText, "text"> {
  text: string;
  readonly isJson: boolean;
}

/** So many characters are looked through in one turn of the event loop: 2 or 3 ms with all kinds of personal data. */
const STEP_CHARS = 4 * 1024;

/** Looks through texts in steps, between which the event loop gets a turn. */
export class Steps {
  readonly #signal: AbortSignal | undefined;
  #left = STEP_CHARS;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** What a whole text becomes. */
  async scanned(flow: TextFlow, text: string): Promise<string> {
    const parts: string[] = [];
    for (let at = 0; at < text.length; ) {
      const part = text.slice(at, at + this.#left);
      at += part.length;
      parts.push(flow.push(part));
      this.#left -= part.length;
      if (this.#left === 0) await this.#step();
    }
    parts.push(flow.end());
    return parts.join("");
  }

  async #step(): Promise<void> {
    this.#left = STEP_CHARS;
    await longStep();
    this.#signal?.throwIfAborted();
  }
}

interface Asked {
  readonly side: GuardSide;
  readonly texts: readonly PassingText[];
  readonly request: GuardedRequest;
  readonly signal: AbortSignal | undefined;
}

/** The verdict of a guardrail that judges. Throws if there is none in its time; the caller's own reason if the caller left. */
export async function verdictOf(
  guardrail: Guardrail,
  { signal: outer, texts, ...asked }: Asked,
): Promise<GuardVerdict> {
  outer?.throwIfAborted();
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error("the check took too long")), guardrail.timeoutMs);
  const signal = outer === undefined ? late.signal : AbortSignal.any([outer, late.signal]);
  const aborted = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => aborted.reject(signal.reason), { once: true });
  try {
    const judged = texts.map(({ text, kind, choice, isInterim }) => ({ text, kind, choice, isInterim }));
    const verdict = await Promise.race([
      aborted.promise,
      Promise.try(() => guardrail.judge?.judge({ ...asked, texts: judged, signal })),
    ]);
    return readable(verdict ?? "allow", texts);
  } finally {
    clearTimeout(timer);
    aborted.promise.catch(() => undefined);
  }
}

/** What replaces a JSON text must be one too. */
function readable(verdict: GuardVerdict, texts: readonly PassingText[]): GuardVerdict {
  if (typeof verdict === "string") return verdict;
  for (const [at, { text, isJson }] of texts.entries()) {
    const replaced = verdict.texts[at];
    if (replaced === undefined) throw new Error("a text was not replaced");
    if (isJson && replaced !== text && isJsonText(text)) JSON.parse(replaced);
  }
  return verdict;
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
