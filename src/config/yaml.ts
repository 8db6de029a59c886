// Parses the text of a configuration file: YAML, of which JSON is a part.

import { kindOfValue } from "./show.ts";

/** The value of a text, or what is wrong with it and where. */
export function parseYaml(text: string): { value: unknown } | { problem: string } {
  try {
    const value: unknown = Bun.YAML.parse(text.replace(/^\uFEFF/, ""));
    if (value === null || (typeof value === "object" && !Array.isArray(value))) return { value };
    return { problem: `expected a group of keys, got ${kindOfValue(value)}` };
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).replace(/^YAML Parse error: /, "");
    const at = lastGoodLine(text) + 1;
    return { problem: `line ${at}: not YAML: ${reason}${hint(text.split("\n")[at - 1] ?? "")}` };
  }
}

/** How many lines from the start still parse; the parser itself does not report where it stopped. */
function lastGoodLine(text: string): number {
  const lines = text.split("\n");
  for (let count = lines.length - 1; count > 0; count--) {
    try {
      Bun.YAML.parse(lines.slice(0, count).join("\n"));
      return count;
    } catch {
      // Not yet: the error is further up.
    }
  }
  return 0;
}

function hint(line: string): string {
  // Braces start a group inside [ ] and { }, so an interpolation there must be quoted.
  return /[[{,].*(?<!["'])\$\{/.test(line) ? ' (inside [ ] and { } write "${NAME}" in quotes)' : "";
}
