// Parses the text of a configuration file: YAML, of which JSON is a part.

import { joinPath, kindOfValue } from "./show.ts";
import { type RepeatedKey, repeatedKeys } from "./yaml-lines.ts";

/** Stands for the second of two equal keys while the parser is asked whether they are two. */
const RENAMED = "sallyport-second-key";

/** The value of a text, or what is wrong with it and where. A key that stands twice is wrong (YAML 1.2.2, 3.2.1.1). */
export function parseYaml(text: string): { value: unknown } | { problem: string } {
  try {
    const value: unknown = Bun.YAML.parse(text.replace(/^\uFEFF/, ""));
    const twice = repeatedKeys(text).find((one) => isRepeated(text, one));
    if (twice !== undefined) {
      const path = twice.path.reduce<string>((at, step) => joinPath(at, step), "");
      return { problem: `line ${twice.line}: ${path} stands twice (first on line ${twice.first}); merge the two` };
    }
    if (value === null || (typeof value === "object" && !Array.isArray(value))) return { value };
    return { problem: `expected a group of keys, got ${kindOfValue(value)}` };
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).replace(/^YAML Parse error: /, "");
    const at = lastGoodLine(text) + 1;
    return { problem: `line ${at}: not YAML: ${reason}${hint(text.split("\n")[at - 1] ?? "")}` };
  }
}

/**
 * True if the parser, which takes the last of two equal keys without a word, finds both as soon as the second has another
 * name. So a line that was misread never refuses a correct file.
 */
function isRepeated(text: string, { path, line }: RepeatedKey): boolean {
  const lines = text.replace(/^\uFEFF/, "").split("\n");
  const written = lines[line - 1] ?? "";
  const name = String(path.at(-1)).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return [...written.matchAll(new RegExp(`(?<=^|[\\s{,])(["']?)${name}\\1(?=\\s*:)`, "g"))].some(
    ({ index, 0: { length }, 1: quote }) => {
      // With its quotes, since in braces a value may follow a quoted key without a space.
      lines[line - 1] = `${written.slice(0, index)}${quote}${RENAMED}${quote}${written.slice(index + length)}`;
      try {
        const group = path.slice(0, -1).reduce<unknown>(memberOf, Bun.YAML.parse(lines.join("\n")));
        return memberOf(group, RENAMED) !== undefined && memberOf(group, path.at(-1) ?? "") !== undefined;
      } catch {
        return false;
      }
    },
  );
}

/** A member of a group or list; undefined if there is none. A key without a value is null. */
function memberOf(value: unknown, step: string | number): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
  return (value as Record<string | number, unknown>)[step];
}

/** How many lines after one that does not parse are tried: lists in brackets and quoted texts of more lines are rare. */
const OPEN_LINES_MAX = 100;

/**
 * How many lines from the start still parse; the parser itself does not report where it stopped. A text that ends within brackets
 * or quotes does not parse either, so the search by halves goes on after such a part.
 */
function lastGoodLine(text: string): number {
  const lines = text.split("\n");
  const parses = (count: number) => {
    try {
      Bun.YAML.parse(lines.slice(0, count).join("\n"));
      return true;
    } catch {
      return false;
    }
  };
  for (let good = 0; ; ) {
    for (let bad = lines.length; bad - good > 1; ) {
      const middle = (good + bad) >> 1;
      if (parses(middle)) good = middle;
      else bad = middle;
    }
    const last = Math.min(good + OPEN_LINES_MAX, lines.length - 1);
    let next = good + 2;
    while (next <= last && !parses(next)) next++;
    if (next > last) return good;
    good = next;
  }
}

function hint(line: string): string {
  // Braces start a group inside [ ] and { }, so an interpolation there must be quoted.
  return /[[{,].*(?<!["'])\$\{/.test(line) ? ' (inside [ ] and { } write "${NAME}" in quotes)' : "";
}
