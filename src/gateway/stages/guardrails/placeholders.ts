// The placeholders of one request: each value has one, and the answer's are restored.

import type { Found, TextCheck } from "./checks/check.ts";

/** How often one label can be counted up; more values of it in one request share what stands for them. */
const DIGITS_MAX = 6;

/** What stands between label and number; some models escape it as Markdown does. */
const GAP = "\\\\?[ _] {0,2}";

function formsOf(labels: readonly string[]): string {
  return labels.map((label) => label.replaceAll("_", "\\\\?[ _]")).join("|");
}

function nameOf(label: string, number: string | undefined): string {
  return `${label.replaceAll("\\", "").replaceAll(" ", "_").toUpperCase()}_${Number(number)}`;
}

/** Gives values numbers, and finds their placeholders in answers. */
export class Placeholders {
  readonly #numbers = new Map<string, string>();
  /** The values that are restored, by `LABEL_n`. */
  readonly #values = new Map<string, string>();
  readonly #next = new Map<string, number>();
  /** The placeholders that the client's own texts contain, which stand for nothing. */
  readonly #taken = new Set<string>();
  readonly #own: RegExp;
  readonly hasLabels: boolean;

  /** `labels`: all that may be given out. */
  constructor(labels: readonly string[]) {
    this.hasLabels = labels.length > 0;
    this.#own = new RegExp(`(${formsOf(labels)})${GAP}(\\d{1,${DIGITS_MAX}})(?!\\d)`, "giu");
  }

  /** Notes the placeholders that a text contains already: these are never given out, and so never restored. */
  reserve(text: string): void {
    for (const [, label = "", number] of text.matchAll(this.#own)) this.#taken.add(nameOf(label, number));
  }

  /** The placeholder of a value. Equal values have equal ones. `isRestored`: the answer's become the value again. */
  of(value: string, label: string, isRestored: boolean): string {
    const key = `${label}\n${value}`;
    let name = this.#numbers.get(key);
    if (name === undefined) {
      let number = (this.#next.get(label) ?? 0) + 1;
      while (this.#taken.has(`${label}_${number}`)) number++;
      this.#next.set(label, number);
      name = `${label}_${number}`;
      this.#numbers.set(key, name);
    }
    if (isRestored) this.#values.set(name, value);
    return `[${name}]`;
  }

  /** Whether an answer may contain something to restore. */
  get restores(): boolean {
    return this.#values.size > 0;
  }

  /** Finds the placeholders that are restored, and their value. */
  check(): { readonly check: TextCheck; readonly restored: (found: string) => string } {
    const labels = [...new Set([...this.#values.keys()].map((name) => name.replace(/_\d+$/, "")))];
    const pattern = new RegExp(
      `(\\[ {0,2})?(?<![\\p{L}\\p{N}_])(${formsOf(labels)})(${GAP})(\\d{1,${DIGITS_MAX}})(?!\\d)( {0,2}\\])?`,
      "giu",
    );
    const isMeant = ([, before, label = "", gap = "", number, after]: RegExpMatchArray) =>
      (gap.includes("_") || before !== undefined || after !== undefined) && this.#values.has(nameOf(label, number));
    const longest = 16 + Math.max(0, ...labels.map(({ length }) => length)) + DIGITS_MAX;
    return {
      check: {
        longest,
        next: (text, from) => firstMeant(pattern, text, { from, isMeant }),
        open: (text, from) => openAt(labels, text, { from, longest }),
      },
      restored: (text) => {
        pattern.lastIndex = 0;
        const found = pattern.exec(text);
        return (found === null ? undefined : this.#values.get(nameOf(found[2] ?? "", found[4]))) ?? text;
      },
    };
  }
}

function firstMeant(
  pattern: RegExp,
  text: string,
  { from, isMeant }: { from: number; isMeant: (found: RegExpMatchArray) => boolean },
): Found | undefined {
  pattern.lastIndex = from;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    if (isMeant(found)) return { start: found.index, end: found.index + found[0].length, label: "" };
    pattern.lastIndex = found.index + 1;
  }
  return undefined;
}

/** Where a placeholder may begin that the text does not show as a whole. */
function openAt(labels: readonly string[], text: string, { from, longest }: { from: number; longest: number }): number {
  for (let start = Math.max(from, text.length - longest); start < text.length; start++) {
    const rest = text.slice(start).replace(/^\[ {0,2}/, "");
    if (rest === "") return start;
    if (
      /^[\p{L}\p{N}_]/u.test(rest) &&
      rest.length === text.length - start &&
      /[\p{L}\p{N}_]$/u.test(text.slice(0, start))
    )
      continue;
    const upper = rest.toUpperCase().replaceAll("\\", "").replaceAll(" ", "_");
    if (labels.some((label) => isBegun(label, upper))) return start;
  }
  return text.length;
}

function isBegun(label: string, upper: string): boolean {
  if (upper.length <= label.length) return label.startsWith(upper);
  return upper.startsWith(label) && /^_{1,3}(?:\d{0,6}_{0,2})$/.test(upper.slice(label.length));
}
