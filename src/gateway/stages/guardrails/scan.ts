// Looks through a text that comes in parts, and replaces what checks find. What may be the beginning of something is held back
// until it is known; nothing else is.

import { CONTEXT_CHARS, type Found, type TextCheck } from "./checks/check.ts";

/** What becomes of a part that was found: its replacement. */
export type Replace = (value: string, label: string) => string;

/** A text on its way. `push` and `end` return what may go on. */
export interface TextFlow {
  push(text: string): string;
  end(): string;
}

/** One pass of some checks over one text. */
export class Scan implements TextFlow {
  readonly #checks: readonly TextCheck[];
  readonly #replace: Replace;
  /** Whether a check must read the whole text. */
  readonly #readsAll: boolean;
  /** Some of what was let go, which checks may look back at, and what is held. */
  #text = "";
  /** Where that begins which is held. */
  #from = 0;
  #parts: string[] = [];

  constructor(checks: readonly TextCheck[], replace: Replace) {
    this.#checks = checks;
    this.#replace = replace;
    this.#readsAll = checks.some(({ longest }) => longest === Number.POSITIVE_INFINITY);
  }

  push(text: string): string {
    if (this.#readsAll) {
      this.#parts.push(text);
      return "";
    }
    this.#text += text;
    return this.#flow(false);
  }

  end(): string {
    if (this.#readsAll) this.#text = this.#parts.splice(0).join("");
    return this.#flow(true);
  }

  /** What is held back, and no longer looked through. */
  rest(): string {
    const rest = this.#readsAll ? this.#parts.splice(0).join("") : this.#text.slice(this.#from);
    this.#from = this.#text.length;
    return rest;
  }

  #flow(isEnd: boolean): string {
    const text = this.#text;
    let out = "";
    // What each check finds next holds until something before it was taken.
    const found: (Found | undefined)[] = this.#checks.map((check) => check.next(text, this.#from));
    for (;;) {
      const undecidedFrom = isEnd ? text.length : this.#openFrom(text);
      const first = earliest(found);
      if (first === undefined || (!isEnd && first.start >= undecidedFrom)) {
        out += text.slice(this.#from, undecidedFrom);
        this.#from = undecidedFrom;
        break;
      }
      out += text.slice(this.#from, first.start) + this.#replace(text.slice(first.start, first.end), first.label);
      this.#from = first.end;
      found.forEach((finding, at) => {
        if (finding !== undefined && finding.start < this.#from) found[at] = this.#checks[at]!.next(text, this.#from);
      });
    }
    const kept = Math.max(0, this.#from - CONTEXT_CHARS - 1);
    if (kept > 0) {
      this.#text = text.slice(kept);
      this.#from -= kept;
    }
    return out;
  }

  #openFrom(text: string): number {
    let undecidedFrom = text.length;
    // Half a character may be the beginning of anything.
    const last = text.charCodeAt(undecidedFrom - 1);
    if (undecidedFrom > this.#from && last >= 0xd800 && last < 0xdc00) undecidedFrom--;
    for (const check of this.#checks) undecidedFrom = Math.min(undecidedFrom, check.open(text, this.#from));
    return undecidedFrom;
  }
}

/** The first part; of those that begin at the same place, the longest. */
function earliest(found: readonly (Found | undefined)[]): Found | undefined {
  let first: Found | undefined;
  for (const finding of found) {
    if (finding === undefined) continue;
    if (
      first === undefined ||
      finding.start < first.start ||
      (finding.start === first.start && finding.end > first.end)
    )
      first = finding;
  }
  return first;
}

/** What a whole text becomes. */
export function scanned(flow: TextFlow, text: string): string {
  return flow.push(text) + flow.end();
}
