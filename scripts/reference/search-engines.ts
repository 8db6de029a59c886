// docs/reference/search-engines.md, from the engines' files.

import type { RequestRate, SearchEngine } from "../../src/search/engine.ts";
import { ENGINES } from "../../src/search/engines/index.ts";

/** The page's text. */
export function enginePage(): string {
  return `# Search engines

<!-- Written by \`bun run generate\` from src/search/engines; change it there. -->

Each is an entry of \`search.engines\` in the configuration. Those marked with ✓ are asked without one: their operators offer
them to programs. The others run with \`enabled: true\`, those with a key as soon as \`api_key\` is there, and \`searxng\` as soon as
\`base_url\` is. Pages that are made for people (*page*) change without notice and may refuse a program; their operators'
terms are yours to read.

| engine | ✓ | categories | how | key | language | time | safe | at most |
|---|---|---|---|---|---|---|---|---|
${ENGINES.map(row).join("\n")}

\`base_url\` replaces every address of an engine. \`selectors\` replaces where things stand in its answers, by the names below:
CSS selectors for markup (\`a@href\` takes an attribute), dotted paths for JSON (\`a.b|c\` takes the first that is there).

| engine | selectors |
|---|---|
${ENGINES.map(selectorRow).join("\n")}
`;
}

function row(engine: SearchEngine): string {
  const { name, enabledByDefault, categories, about, languages, timeRanges = [], safeSearch } = engine;
  const cells = [
    `[\`${name}\`](${about.website})`,
    enabledByDefault ? "✓" : "",
    categories.length > 5 ? "all" : categories.join(", "),
    about.official ? "interface" : "page",
    keyOf(engine),
    languages === undefined ? "" : languages === "any" ? "yes" : `${languages.length}`,
    timeRanges.length === 0 ? "" : timeRanges.length === 4 ? "yes" : timeRanges.join(", "),
    safeSearch ? "yes" : "",
    politenessOf(engine),
  ];
  return `| ${cells.join(" | ")} |`;
}

function keyOf({ key, optionalKey }: SearchEngine): string {
  if (optionalKey !== undefined) return `${optionalKey.looksLike} (optional)`;
  if (key === undefined) return "";
  return /[:…]/.test(key.looksLike) ? `\`${key.looksLike}\`` : key.looksLike;
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
];

function politenessOf({ requestRate, optionalKey }: SearchEngine): string {
  if (requestRate === undefined) return "";
  const withKey = optionalKey?.requestRate === undefined ? "" : ` (with a key ${wordsOf(optionalKey.requestRate)})`;
  return wordsOf(requestRate) + withKey;
}

function wordsOf({ requests, perMs }: RequestRate): string {
  const [unitMs, unit] = UNITS.find(([ms]) => perMs % ms === 0) ?? [1000, "second"];
  const many = perMs / unitMs;
  return `${requests} per ${many === 1 ? unit : `${many} ${unit}s`}`;
}

function selectorRow({ name, selectors }: SearchEngine): string {
  return `| \`${name}\` | ${Object.keys(selectors).join(", ")} |`;
}
