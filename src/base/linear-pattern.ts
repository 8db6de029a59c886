// Regular expressions that take time in proportion to the text, whatever the text and the expression are: the states of the
// expression are followed side by side, and nothing is ever tried again. It has the syntax of JavaScript with the flag `u`, without
// what cannot be done so (references back, look-around). Of the matches at one place, the longest counts.

/** The largest programme of an expression, which bounds the work for each character. */
const STEPS_MAX = 4000;
const REPEAT_MAX = 1000;
const DEPTH_MAX = 100;

/** Part of a text: from `start` up to `end`. */
export interface MatchSpan {
  readonly start: number;
  readonly end: number;
}

type Assertion = "^" | "$" | "b" | "B";

type Node =
  | { readonly type: "one"; readonly of: CharacterTest }
  | { readonly type: "assert"; readonly what: Assertion }
  | { readonly type: "all" | "any"; readonly parts: readonly Node[] }
  | { readonly type: "repeat"; readonly part: Node; readonly least: number; readonly most: number };

/** Whether a character is of a class. The answer for each is kept. */
class CharacterTest {
  readonly #pattern: RegExp;
  readonly #known = new Map<number, boolean>();

  constructor(source: string, ignoresCase: boolean) {
    this.#pattern = new RegExp(`^(?:${source})$`, ignoresCase ? "iu" : "u");
  }

  has(code: number): boolean {
    let known = this.#known.get(code);
    if (known === undefined) {
      known = this.#pattern.test(String.fromCodePoint(code));
      if (this.#known.size < 70_000) this.#known.set(code, known);
    }
    return known;
  }
}

/** Reads an expression. Throws `SyntaxError` that says what cannot be read. */
class PatternReader {
  readonly #source: string;
  #ignoresCase = false;
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
  }

  read(): Node {
    if (this.#take("(?i)")) this.#ignoresCase = true;
    const node = this.#any();
    if (this.#at < this.#source.length) throw new SyntaxError(`unexpected ")" at ${this.#at + 1}`);
    return node;
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #any(): Node {
    if (++this.#depth > DEPTH_MAX) throw new SyntaxError("too many nested groups");
    const parts = [this.#all()];
    while (this.#take("|")) parts.push(this.#all());
    this.#depth--;
    return parts.length === 1 ? parts[0]! : { type: "any", parts };
  }

  #all(): Node {
    const parts: Node[] = [];
    while (this.#at < this.#source.length && !"|)".includes(this.#source[this.#at]!)) parts.push(this.#repeated());
    return { type: "all", parts };
  }

  #repeated(): Node {
    const part = this.#one();
    const range = this.#range();
    if (range === undefined) return part;
    // Whether it prefers few makes no difference: the longest match counts.
    this.#take("?");
    if (part.type === "assert") throw new SyntaxError("nothing to repeat");
    return { type: "repeat", part, ...range };
  }

  #range(): { least: number; most: number } | undefined {
    if (this.#take("*")) return { least: 0, most: Number.POSITIVE_INFINITY };
    if (this.#take("+")) return { least: 1, most: Number.POSITIVE_INFINITY };
    if (this.#take("?")) return { least: 0, most: 1 };
    const found = /^\{(\d+)(?:(,)(\d*))?\}/.exec(this.#source.slice(this.#at, this.#at + 20));
    if (found === null) return undefined;
    this.#at += found[0].length;
    const least = Number(found[1]);
    const most = found[2] === undefined ? least : found[3] === "" ? Number.POSITIVE_INFINITY : Number(found[3]);
    if (least > most) throw new SyntaxError(`the numbers of ${found[0]} are out of order`);
    if (least > REPEAT_MAX || (most !== Number.POSITIVE_INFINITY && most > REPEAT_MAX)) {
      throw new SyntaxError(`${found[0]} repeats more than ${REPEAT_MAX} times`);
    }
    return { least, most };
  }

  #one(): Node {
    if (this.#take("^")) return { type: "assert", what: "^" };
    if (this.#take("$")) return { type: "assert", what: "$" };
    if (this.#take("\\b")) return { type: "assert", what: "b" };
    if (this.#take("\\B")) return { type: "assert", what: "B" };
    if (this.#take("(")) return this.#group();
    const rest = this.#source.slice(this.#at);
    const found =
      /^\[(?:\\[\s\S]|[^\]\\])*\]/u.exec(rest) ??
      /^\\(?:[pP]\{[^}]*\}|x[\dA-Fa-f]{2}|u\{[\dA-Fa-f]+\}|u[\dA-Fa-f]{4}|[\s\S])/u.exec(rest) ??
      /^[\s\S]/u.exec(rest);
    const source = found?.[0] ?? "";
    if (/^\\[1-9k]/.test(source)) throw new SyntaxError("references to groups are not supported");
    if (/^[*+?{}\])]$/.test(source)) throw new SyntaxError(`unexpected "${source}" at ${this.#at + 1}`);
    this.#at += source.length;
    return { type: "one", of: new CharacterTest(source, this.#ignoresCase) };
  }

  #group(): Node {
    if (/^\?(?:[=!]|<[=!])/.test(this.#source.slice(this.#at, this.#at + 4))) {
      throw new SyntaxError("look-ahead and look-behind are not supported");
    }
    const start = /^\?(?::|<[A-Za-z_]\w*>)/.exec(this.#source.slice(this.#at))?.[0] ?? "";
    this.#at += start.length;
    const node = this.#any();
    if (!this.#take(")")) throw new SyntaxError('expected ")"');
    return node;
  }
}

function longestOf(node: Node): number {
  switch (node.type) {
    case "one":
      return 1;
    case "assert":
      return 0;
    case "all":
      return node.parts.reduce((sum, part) => sum + longestOf(part), 0);
    case "any":
      return Math.max(...node.parts.map(longestOf));
    case "repeat": {
      const one = longestOf(node.part);
      return one === 0 ? 0 : one * node.most;
    }
  }
}

type Step =
  | { readonly of: CharacterTest; readonly next: number }
  | { readonly what: Assertion; readonly next: number }
  | { readonly ways: readonly number[] }
  | "match";

/** Writes the steps of a node before those that follow it, and returns where it begins. */
function compile(node: Node, next: number, steps: Step[]): number {
  const add = (step: Step): number => {
    if (steps.length >= STEPS_MAX) throw new SyntaxError("the expression is too large");
    return steps.push(step) - 1;
  };
  // What matches nothing may be repeated without a step, however often.
  if (longestOf(node) === 0 && node.type === "repeat") return compile(node.part, next, steps);
  switch (node.type) {
    case "one":
      return add({ of: node.of, next });
    case "assert":
      return add({ what: node.what, next });
    case "all":
      return node.parts.reduceRight((after, part) => compile(part, after, steps), next);
    case "any":
      return add({ ways: node.parts.map((part) => compile(part, next, steps)) });
    case "repeat": {
      let start = next;
      if (node.most === Number.POSITIVE_INFINITY) {
        const loop = add({ ways: [] });
        const body = compile(node.part, loop, steps);
        steps[loop] = { ways: [body, next] };
        start = loop;
      } else {
        for (let more = node.most - node.least; more > 0; more--) {
          start = add({ ways: [compile(node.part, start, steps), next] });
        }
      }
      for (let needed = node.least; needed > 0; needed--) start = compile(node.part, start, steps);
      return start;
    }
  }
}

/** The states in which an expression is, each with the earliest start that leads to it. */
class States {
  readonly list: number[] = [];
  readonly starts: Int32Array;
  readonly #marks: Int32Array;
  #round = 0;

  constructor(size: number) {
    this.starts = new Int32Array(size);
    this.#marks = new Int32Array(size);
  }

  clear(): void {
    this.list.length = 0;
    this.#round++;
  }

  add(state: number, start: number): boolean {
    if (this.#marks[state] === this.#round) return false;
    this.#marks[state] = this.#round;
    this.starts[state] = start;
    this.list.push(state);
    return true;
  }
}

/** A compiled expression. */
export class LinearPattern {
  /** The characters of its longest match; infinite without a limit. */
  readonly longest: number;
  readonly #steps: Step[] = [];
  readonly #start: number;
  /** Which characters a match can begin with; undefined: any, or none at all. */
  readonly #first: readonly CharacterTest[] | undefined;
  #now: States;
  #then: States;

  /** Throws `SyntaxError` if the expression cannot be used. */
  constructor(source: string) {
    const node = new PatternReader(source).read();
    this.longest = longestOf(node);
    this.#steps.push("match");
    this.#start = compile(node, 0, this.#steps);
    this.#now = new States(this.#steps.length);
    this.#then = new States(this.#steps.length);
    this.#first = this.#firstTests();
  }

  /** The first match that begins at `from` or later and is not empty. */
  find(text: string, from: number): MatchSpan | undefined {
    return this.#run(text, from).found;
  }

  /** Where the first match may begin that depends on what follows the text; its length: nowhere. */
  open(text: string, from: number): number {
    return this.#run(text, from, true).open;
  }

  #run(text: string, from: number, isOpen = false): { found: MatchSpan | undefined; open: number } {
    let found: MatchSpan | undefined;
    this.#now.clear();
    let at = from;
    for (;;) {
      if (this.#now.list.length === 0) {
        if (found !== undefined && !isOpen) return { found, open: text.length };
        at = this.#skip(text, at);
      }
      if (isOpen || found === undefined) this.#enter(this.#now, this.#start, at, text, at);
      const code = text.codePointAt(at);
      const { list, starts } = this.#now;
      this.#then.clear();
      const after = at + (code !== undefined && code > 0xffff ? 2 : 1);
      for (const state of list) {
        const step = this.#steps[state]!;
        const start = starts[state]!;
        if (step === "match") {
          // States are in the order of their starts, so the first match of a round has the earliest.
          if (start < at && (found === undefined || start <= found.start)) found = { start, end: at };
          continue;
        }
        if (code === undefined || !("of" in step) || (!isOpen && found !== undefined && start > found.start)) continue;
        if (step.of.has(code)) this.#enter(this.#then, step.next, start, text, after);
      }
      if (code === undefined) break;
      [this.#now, this.#then] = [this.#then, this.#now];
      at = after;
    }
    return { found, open: isOpen ? this.#openAt(text) : text.length };
  }

  /** The earliest start among the states that wait for a further character. */
  #openAt(text: string): number {
    let open = text.length;
    for (const state of this.#now.list) {
      const step = this.#steps[state]!;
      if (step !== "match" && ("of" in step || "what" in step)) open = Math.min(open, this.#now.starts[state]!);
    }
    return open;
  }

  #enter(states: States, first: number, start: number, text: string, at: number): void {
    const left = [first];
    for (let state = left.pop(); state !== undefined; state = left.pop()) {
      if (!states.add(state, start)) continue;
      const step = this.#steps[state]!;
      if (step === "match" || "of" in step) continue;
      if ("ways" in step) left.push(...step.ways);
      else if (holds(step.what, text, at)) left.push(step.next);
    }
  }

  #skip(text: string, from: number): number {
    const first = this.#first;
    if (first === undefined) return from;
    let at = from;
    for (; at < text.length; at++) {
      const code = text.codePointAt(at)!;
      if (first.some((test) => test.has(code))) return at;
    }
    return at;
  }

  #firstTests(): readonly CharacterTest[] | undefined {
    const tests: CharacterTest[] = [];
    const seen = new Set<number>();
    const unvisited = [this.#start];
    for (let state = unvisited.pop(); state !== undefined; state = unvisited.pop()) {
      if (seen.has(state)) continue;
      seen.add(state);
      const step = this.#steps[state]!;
      // What matches nothing, or begins with an assertion, may begin anywhere.
      if (step === "match") return undefined;
      if ("of" in step) tests.push(step.of);
      else if ("ways" in step) unvisited.push(...step.ways);
      else unvisited.push(step.next);
    }
    return tests.length > 8 ? undefined : tests;
  }
}

const WORD = /\w/;

function holds(what: Assertion, text: string, at: number): boolean {
  if (what === "^") return at === 0;
  if (what === "$") return at === text.length;
  const isBoundary = WORD.test(text[at - 1] ?? "") !== WORD.test(text[at] ?? "");
  return isBoundary === (what === "b");
}
