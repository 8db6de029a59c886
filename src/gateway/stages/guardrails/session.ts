// What the guardrails do to one request and its answer: they share its placeholders, and their counts.

import { ApiError } from "../../../base/errors.ts";
import type { Reservation } from "../../../shared-state/reservations.ts";
import type { Guardrail } from "./guardrail.ts";
import { JsonFlow, notingJson } from "./json-flow.ts";
import { type PassingText, Steps, verdictOf } from "./judging.ts";
import { Placeholders } from "./placeholders.ts";
import { Scan, scanned, type TextFlow } from "./scan.ts";
import { mapTexts, type TextMap } from "./texts.ts";
import { CallerRefused, type GuardedRequest, type GuardSide } from "./tools.ts";

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
  /** Whether something was put in the place of what was found. */
  masked: boolean;
  denied: boolean;
  failed: boolean;
}

/** The guardrails of one request. */
export class GuardSession {
  readonly #guardrails: readonly Guardrail[];
  #request: GuardedRequest;
  readonly #placeholders: Placeholders;
  readonly #counts = new Map<string, Count>();
  /** What a text of the request became: the history is the same in all its forms. */
  readonly #mapped = new Map<string, string>();
  readonly #mappedJson = new Map<string, string>();
  readonly #leftOut = new Set<string>();
  #unread = 0;
  readonly #taken = new Map<string, number>();

  constructor(guardrails: readonly Guardrail[], request: GuardedRequest) {
    this.#guardrails = guardrails;
    this.#request = request;
    this.#placeholders = new Placeholders([...new Set(guardrails.flatMap(({ labels }) => labels))]);
  }

  /** The value with its texts as the guardrails let them pass. Throws `Denied`. */
  input<T>(value: T): T {
    if (!this.#has("input")) return value;
    return this.readable("input", value, () => {
      this.#reserve(value);
      const map: TextMap = {
        text: (text) => once(this.#mapped, text, () => this.#unasked(scanned(this.#flow("input"), text))),
        json: (text) => once(this.#mappedJson, text, () => this.#unasked(this.#json(text))),
        unread: () => void this.#unread++,
        leftOut: (kind) => void this.#leftOut.add(kind),
      };
      return mapTexts(value, map) as T;
    });
  }

  /** Takes what the request has reserved in its caller's budgets: decisions are paid beside it. */
  paidBeside(reservation: Reservation | undefined): void {
    if (reservation !== undefined) this.#request = { ...this.#request, reservation };
  }

  /** Whether `learn` must be awaited before `input`. */
  get asksFirst(): boolean {
    return this.#guardrails.some(({ on, judge }) => on.includes("input") && judge !== undefined && !judge.isBeside);
  }

  /** Whether something judges the request beside its call. */
  get asksBeside(): boolean {
    return this.#guardrails.some(({ on, judge }) => on.includes("input") && judge?.isBeside === true);
  }

  /** Whether something judges the answer, which is held until then. */
  get holds(): boolean {
    return this.#guardrails.some(({ on, judge }) => on.includes("output") && judge !== undefined);
  }

  /**
   * Leads the texts of values through the guardrails, in steps: `input` knows then what becomes of each. `sent`: what of them are
   * messages and tools. Throws `Denied`.
   */
  async learn(values: readonly unknown[], sent: unknown, signal?: AbortSignal): Promise<void> {
    if (!this.#has("input")) return;
    const texts = new Map<string, PassingText>();
    const add = (kind: PassingText["kind"], isJson: boolean) => (text: string) => {
      const known = isJson ? this.#mappedJson : this.#mapped;
      const key = `${isJson}${text}`;
      if (!known.has(text) && !texts.has(key)) texts.set(key, { text, kind, choice: 0, isJson });
      return text;
    };
    const collect = (value: unknown, kind: PassingText["kind"]) => {
      this.readable("input", value, () => {
        this.#reserve(value);
        return mapTexts(value, { ...NOTHING_ELSE, text: add(kind, false), json: add("arguments", true) });
      });
    };
    collect(sent, "text");
    for (const value of values) collect(value, "parameter");
    const before = [...texts.values()].map(({ text }) => text);
    await this.pass("input", [...texts.values()], signal);
    for (const [at, { text, isJson }] of [...texts.values()].entries()) {
      (isJson ? this.#mappedJson : this.#mapped).set(before[at]!, text);
    }
  }

  /** Leads texts through the guardrails of a side, in their order. Throws `Denied`. */
  async pass(side: GuardSide, texts: readonly PassingText[], signal?: AbortSignal): Promise<void> {
    const steps = new Steps(signal);
    for (const guardrail of this.#guardrails) {
      if (!guardrail.on.includes(side)) continue;
      if (guardrail.judge !== undefined) {
        if (side === "output" || !guardrail.judge.isBeside) await this.#judged(guardrail, { side, texts, signal });
        continue;
      }
      if (guardrail.checks.length === 0) continue;
      for (const passing of texts) {
        const create = () => this.#guarded(guardrail, side);
        passing.text = passing.isJson
          ? await this.#jsonInSteps(passing.text, create, steps)
          : await steps.scanned(create(), passing.text);
      }
    }
  }

  /** Asks what judges a request beside its call. `sent`: its messages and tools as they are sent. Throws `Denied`. */
  async beside(sent: unknown, signal?: AbortSignal): Promise<void> {
    const texts: PassingText[] = [];
    const add = (kind: PassingText["kind"], isJson: boolean) => (text: string) => {
      texts.push({ text, kind, choice: 0, isJson });
      return text;
    };
    this.readable("input", sent, () =>
      mapTexts(sent, { ...NOTHING_ELSE, text: add("text", false), json: add("arguments", true) }),
    );
    const judging = this.#guardrails.filter(({ on, judge }) => on.includes("input") && judge?.isBeside === true);
    await Promise.all(judging.map((guardrail) => this.#judged(guardrail, { side: "input", texts, signal })));
  }

  /** A text of an answer with the values of its placeholders. */
  restored(text: string, isJson: boolean): string {
    if (!this.#placeholders.restores) return text;
    const create = () => this.#restoring();
    return scanned(isJson ? new JsonFlow(create) : create(), text);
  }

  /** What was left out of the request, by its kind. */
  get leftOut(): readonly string[] {
    return [...this.#leftOut];
  }

  /** Whether the answer is looked through, or has something to restore. */
  get hears(): boolean {
    return this.#has("output") || this.#placeholders.restores;
  }

  /** Whether the answer may have something to restore, before it is known what was masked. */
  get mayRestore(): boolean {
    return this.#guardrails.some(({ on, action, restore }) => on.includes("input") && action === "mask" && restore);
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
    const told = [...this.#counts].map(([name, count]) => `${name}=${this.#told(count)}`);
    return told.length === 0 ? undefined : told.join(", ");
  }

  /** How often each guardrail did what since the last call. */
  takeCounts(): { readonly guardrail: string; readonly action: string; readonly count: number }[] {
    return [...this.#counts].flatMap(([guardrail, counted]) => {
      const total = Math.max(1, counted.found);
      const count = total - (this.#taken.get(guardrail) ?? 0);
      this.#taken.set(guardrail, total);
      return count === 0 ? [] : [{ guardrail, action: this.#told(counted).replace(/:.*/, ""), count }];
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

  /** What a value becomes; itself if it cannot be read and all guardrails of the side let such values pass. Throws `Denied`. */
  readable<T>(side: GuardSide, value: T, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof Denied) throw error;
      for (const guardrail of this.#guardrails) if (guardrail.on.includes(side)) this.failed(guardrail, error);
      return value;
    }
  }

  #reserve(value: unknown): void {
    if (!this.#placeholders.hasLabels) return;
    const reserve = (text: string) => {
      this.#placeholders.reserve(text);
      return text;
    };
    mapTexts(value, { ...NOTHING_ELSE, text: reserve, json: reserve });
  }

  /** A text that those who judge have not seen. */
  #unasked(text: string): string {
    for (const guardrail of this.#guardrails) {
      const { on, judge } = guardrail;
      if (judge === undefined || judge.isBeside || !on.includes("input")) continue;
      this.failed(guardrail, new Error("a text was not shown to the check"));
    }
    return text;
  }

  async #judged(
    guardrail: Guardrail,
    asked: { side: GuardSide; texts: readonly PassingText[]; signal: AbortSignal | undefined },
  ): Promise<void> {
    const { texts, signal } = asked;
    if (texts.length === 0) return;
    let verdict: Awaited<ReturnType<typeof verdictOf>>;
    try {
      verdict = await verdictOf(guardrail, { ...asked, request: this.#request });
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof CallerRefused) throw error.told;
      this.failed(guardrail, error);
      return;
    }
    if (verdict === "allow") return;
    const isNoted = guardrail.action === "note";
    if (verdict === "deny") {
      if (!isNoted) throw this.denied(guardrail);
      this.#count(guardrail.name).found++;
      return;
    }
    for (const [at, passing] of texts.entries()) {
      const replaced = verdict.texts[at]!;
      if (replaced === passing.text) continue;
      const count = this.#count(guardrail.name);
      count.found++;
      if (isNoted) continue;
      count.masked = true;
      passing.text = replaced;
    }
  }

  #told({ found, masked, denied, failed }: Count): string {
    if (denied) return "denied";
    if (found > 0) return masked ? `masked:${found}` : "noted";
    return failed ? "failed" : "noted";
  }

  #has(side: GuardSide): boolean {
    return this.#guardrails.some(({ on }) => on.includes(side));
  }

  #json(text: string): string {
    const { flow, isChanged } = notingJson(() => this.#flow("input"));
    const mapped = scanned(flow, text);
    return isChanged() ? mapped : text;
  }

  async #jsonInSteps(text: string, create: () => TextFlow, steps: Steps): Promise<string> {
    const { flow, isChanged } = notingJson(create);
    const mapped = await steps.scanned(flow, text);
    return isChanged() ? mapped : text;
  }

  #flow(side: GuardSide, restores = false): TextFlow {
    const flows: TextFlow[] = this.#guardrails
      .filter(({ on, checks }) => on.includes(side) && checks.length > 0)
      .map((guardrail) => this.#guarded(guardrail, side));
    if (restores && this.#placeholders.restores) flows.push(this.#restoring());
    return flows.length === 1 ? flows[0]! : chained(flows);
  }

  #restoring(): TextFlow {
    const { check, restored } = this.#placeholders.check();
    return new Scan([check], restored);
  }

  #guarded(guardrail: Guardrail, side: GuardSide): TextFlow {
    const { name, checks, action } = guardrail;
    const replace = (value: string, label: string) => {
      if (action === "deny") throw this.denied(guardrail);
      const count = this.#count(name);
      count.found++;
      if (action === "note") return value;
      count.masked = true;
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
      count = { found: 0, masked: false, denied: false, failed: false };
      this.#counts.set(name, count);
    }
    return count;
  }
}

/** What a map of texts does not look at. */
const NOTHING_ELSE: Pick<TextMap, "unread" | "leftOut"> = { unread: () => undefined, leftOut: () => undefined };

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
