// What the guardrails do to one request and its answer: they share its placeholders, and their counts.

import { ApiError } from "../../../base/errors.ts";
import type { Guardrail, GuardSide } from "./guardrail.ts";
import { JsonFlow } from "./json-flow.ts";
import { Placeholders } from "./placeholders.ts";
import { Scan, scanned, type TextFlow } from "./scan.ts";
import { mapTexts, type TextMap } from "./texts.ts";

/** A guardrail refused a text, or could not look through it. */
export class Denied extends Error {
  readonly guardrail: string;
  constructor(guardrail: string, cause?: unknown) {
    super(`denied by ${guardrail}`, { cause });
    this.guardrail = guardrail;
  }
}

/** The error for a client whose request was denied. It does not say why, since that would show how to get round it. */
export function deniedError({ guardrail }: Denied): ApiError {
  return new ApiError("guardrail_denied", `The guardrail "${guardrail}" does not allow this request.`, {
    details: { guardrail },
  });
}

interface Count {
  found: number;
  denied: boolean;
  failed: boolean;
}

/** The guardrails of one request. */
export class GuardSession {
  readonly #guardrails: readonly Guardrail[];
  readonly #placeholders: Placeholders;
  readonly #counts = new Map<string, Count>();
  /** What a text of the request became: the history is the same in all its forms. */
  readonly #mapped = new Map<string, string>();
  readonly #mappedJson = new Map<string, string>();
  readonly #leftOut = new Set<string>();
  #unread = 0;
  readonly #taken = new Map<string, number>();

  constructor(guardrails: readonly Guardrail[]) {
    this.#guardrails = guardrails;
    this.#placeholders = new Placeholders([...new Set(guardrails.flatMap(({ labels }) => labels))]);
  }

  /** The value with its texts as the guardrails let them pass. Throws `Denied`. */
  input<T>(value: T): T {
    if (!this.#has("input")) return value;
    if (this.#placeholders.hasLabels) {
      const reserve = (text: string) => {
        this.#placeholders.reserve(text);
        return text;
      };
      mapTexts(value, { text: reserve, json: reserve, unread: () => undefined, leftOut: () => undefined });
    }
    const map: TextMap = {
      text: (text) => once(this.#mapped, text, () => scanned(this.#flow("input"), text)),
      json: (text) => once(this.#mappedJson, text, () => this.#json(text)),
      unread: () => void this.#unread++,
      leftOut: (kind) => void this.#leftOut.add(kind),
    };
    return mapTexts(value, map) as T;
  }

  /** What was left out of the request, by its kind. */
  get leftOut(): readonly string[] {
    return [...this.#leftOut];
  }

  /** Whether the answer is looked through, or has something to restore. */
  get hears(): boolean {
    return this.#has("output") || this.#placeholders.restores;
  }

  /** Whether the answer may be denied or masked. */
  get guardsOutput(): boolean {
    return this.#has("output");
  }

  /** The way of one text of the answer. `restores`: whether its placeholders become the values again. */
  output({ restores = true, isJson = false } = {}): TextFlow {
    const flow = () => this.#flow("output", restores);
    return isJson ? new JsonFlow(flow) : flow();
  }

  /** What the guardrails did, for the header and the log line; undefined: nothing. */
  report(): string | undefined {
    const told = [...this.#counts].map(([name, count]) => `${name}=${this.#told(name, count)}`);
    return told.length === 0 ? undefined : told.join(", ");
  }

  /** How often each guardrail did what since the last call. */
  takeCounts(): { readonly guardrail: string; readonly action: string; readonly count: number }[] {
    return [...this.#counts].flatMap(([guardrail, one]) => {
      const all = Math.max(1, one.found);
      const count = all - (this.#taken.get(guardrail) ?? 0);
      this.#taken.set(guardrail, all);
      return count === 0 ? [] : [{ guardrail, action: this.#told(guardrail, one).replace(/:.*/, ""), count }];
    });
  }

  /** The first guardrail that put something in place of a text. */
  get maskedBy(): string | undefined {
    const masks = this.#guardrails.filter(({ action }) => action === "mask");
    return masks.find(({ name }) => (this.#counts.get(name)?.found ?? 0) > 0)?.name;
  }

  get unread(): number {
    return this.#unread;
  }

  /** Notes that a guardrail could not do its work. Throws `Denied` unless it lets pass what it cannot look through. */
  failed(guardrail: Guardrail, error: unknown): void {
    const count = this.#count(guardrail.name);
    count.failed = true;
    if (guardrail.onError === "pass") return;
    count.denied = true;
    throw new Denied(guardrail.name, error);
  }

  /** Notes that a guardrail denied. */
  denied(guardrail: Guardrail): Denied {
    const count = this.#count(guardrail.name);
    count.found++;
    count.denied = true;
    return new Denied(guardrail.name);
  }

  #told(name: string, { found, denied, failed }: Count): string {
    if (denied) return "denied";
    const action = this.#guardrails.find((one) => one.name === name)?.action;
    if (found > 0) return action === "mask" ? `masked:${found}` : "noted";
    return failed ? "failed" : "noted";
  }

  #has(side: GuardSide): boolean {
    return this.#guardrails.some(({ on }) => on.includes(side));
  }

  /** Escapes are written anew only where something was changed, so that an equal history stays equal. */
  #json(text: string): string {
    let isChanged = false;
    const create = (): TextFlow => {
      const inner = this.#flow("input");
      let before = "";
      let after = "";
      const noted = (passed: string) => {
        after += passed;
        return passed;
      };
      return {
        push(part) {
          before += part;
          return noted(inner.push(part));
        },
        end() {
          const passed = noted(inner.end());
          isChanged ||= before !== after;
          return passed;
        },
      };
    };
    const mapped = scanned(new JsonFlow(create), text);
    return isChanged ? mapped : text;
  }

  #flow(side: GuardSide, restores = false): TextFlow {
    const flows: TextFlow[] = this.#guardrails
      .filter(({ on, checks }) => on.includes(side) && checks.length > 0)
      .map((guardrail) => this.#guarded(guardrail, side));
    if (restores && this.#placeholders.restores) {
      const { check, restored } = this.#placeholders.check();
      flows.push(new Scan([check], restored));
    }
    return flows.length === 1 ? flows[0]! : chained(flows);
  }

  #guarded(guardrail: Guardrail, side: GuardSide): TextFlow {
    const { name, checks, action } = guardrail;
    const replace = (value: string, label: string) => {
      if (action === "deny") throw this.denied(guardrail);
      this.#count(name).found++;
      if (action === "note") return value;
      return this.#placeholders.of(value, label, side === "input" && guardrail.restore);
    };
    const scan = new Scan(checks, replace);
    let isBroken = false;
    const safe = (work: () => string, text: string): string => {
      if (isBroken) return text;
      try {
        return work();
      } catch (error) {
        if (error instanceof Denied) throw error;
        this.failed(guardrail, error);
        isBroken = true;
        return scan.rest();
      }
    };
    if (action !== "note")
      return { push: (text) => safe(() => scan.push(text), text), end: () => safe(() => scan.end(), "") };
    // What is only noted is not held back.
    return {
      push(text) {
        safe(() => scan.push(text), "");
        return text;
      },
      end() {
        safe(() => scan.end(), "");
        return "";
      },
    };
  }

  #count(name: string): Count {
    let count = this.#counts.get(name);
    if (count === undefined) {
      count = { found: 0, denied: false, failed: false };
      this.#counts.set(name, count);
    }
    return count;
  }
}

function once(known: Map<string, string>, text: string, make: () => string): string {
  let made = known.get(text);
  if (made === undefined) {
    made = make();
    known.set(text, made);
  }
  return made;
}

/** One way through several. */
function chained(flows: readonly TextFlow[]): TextFlow {
  return {
    push: (text) => flows.reduce((passed, flow) => (passed === "" ? "" : flow.push(passed)), text),
    end: () => flows.reduce((passed, flow) => (passed === "" ? "" : flow.push(passed)) + flow.end(), ""),
  };
}
