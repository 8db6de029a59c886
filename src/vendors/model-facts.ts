// Derives facts from a model's name: its family, and the family's rules. An unknown version is treated as the newest known
// one; a name of no family as a plain model that supports what the protocol has.

import { FAMILIES } from "./index.ts";
import { type Effort, type ModelFamily, type ModelRule, type ModelTraits, version } from "./model-family.ts";

const COMMON: readonly Effort[] = ["none", "minimal", "low", "medium", "high"];

/** The facts of an unknown model. */
const PLAIN: ModelTraits = {
  reasons: false,
  reasonsByDefault: false,
  efforts: COMMON,
  chatEfforts: COMMON,
  refuses: [],
  sampling: "always",
  samplers: [],
  chatTools: "always",
  responsesOnly: false,
  userAfterTool: true,
  thinking: "budget",
  thinkingOff: "",
  budgetMin: 0,
  display: false,
  bothSamplers: true,
  structured: false,
  forcedTool: true,
  cacheBreakpoints: false,
  prefill: true,
  lateSystem: false,
  signsThinking: false,
  callIds: false,
};

/** Whether the efforts come from a rule about the model, and are not assumed for an unknown one. */
export function statesEfforts(efforts: readonly Effort[]): boolean {
  return efforts !== COMMON;
}

/** Words by which names of unknown families suggest reasoning. */
const SAYS_SO = /reason|think/;

/** The facts of a model, and whether its name belongs to a family at all. */
export interface KnownModel {
  readonly family: string | undefined;
  readonly facts: Readonly<ModelTraits>;
}

/** The limit of cached names. They come from the configuration and from model lists, so there are few. */
const known = new Map<string, KnownModel>();
const KNOWN_MAX = 5000;

/** The facts of a model by its id, in any vendor's or proxy's spelling. */
export function factsOf(model: string): Readonly<ModelTraits> {
  return modelByName(model).facts;
}

/** The facts, together with the name of the family. */
export function modelByName(model: string): KnownModel {
  const found = known.get(model);
  if (found !== undefined) return found;
  const made = readName(model.toLowerCase());
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(model, made);
  return made;
}

function readName(name: string): KnownModel {
  for (const family of FAMILIES) {
    const match = family.pattern.exec(name);
    if (match !== null) return { family: family.name, facts: read(family, match, name) };
  }
  return { family: undefined, facts: SAYS_SO.test(name) ? { ...PLAIN, reasons: true } : PLAIN };
}

/** The parts of a model's name. */
export interface NamedModel {
  readonly family: string;
  /** Infinite if the name has none, since such a name means the newest. */
  readonly version: number;
  /** The words of the name without version and date: `gpt sol`, `claude haiku`. */
  readonly line: string;
}

/** Words that tell a release from another one of the same model. */
const RELEASES = new Set(["latest", "preview", "exp", "experimental", "beta"]);

/** The parts of a model's id; undefined for a name of no family. */
export function nameParts(model: string): NamedModel | undefined {
  const name = model.toLowerCase().replace(/^.*\//, "");
  for (const family of FAMILIES) {
    const match = family.pattern.exec(name);
    if (match === null) continue;
    const rest = name.slice(0, match.index) + match[0].replace(/\d+/g, "") + name.slice(match.index + match[0].length);
    const words = rest.split(/[^a-z0-9]+/).filter((word) => /[a-z]/.test(word) && !RELEASES.has(word));
    return { family: family.name, version: versionOf(match), line: words.join(" ") };
  }
  return undefined;
}

function versionOf(match: RegExpExecArray): number {
  const { major, minor } = match.groups ?? {};
  return major === undefined ? Number.POSITIVE_INFINITY : version(Number(major), Number(minor ?? 0));
}

function read(family: ModelFamily, match: RegExpExecArray, name: string): ModelTraits {
  const at = versionOf(match);
  const facts: ModelTraits = { ...PLAIN };
  const words = wordsOf(name);
  for (const rule of family.rules) if (holds(rule, at, words)) Object.assign(facts, rule.facts);
  if (SAYS_SO.test(name) && !/non-?reasoning|non-?thinking/.test(name)) facts.reasons = true;
  return facts;
}

/** A name as space-separated words: a deployment called `gpt-5-prod` is not the model `gpt-5-pro`. */
function wordsOf(name: string): string {
  return ` ${name.replace(/[^a-z0-9.]+/g, " ")} `;
}

function holds(rule: ModelRule, at: number, words: string): boolean {
  const has = (line: string) => words.includes(wordsOf(line));
  if (at < (rule.from ?? 0) || (rule.before !== undefined && at >= rule.before)) return false;
  if (rule.lines !== undefined && !rule.lines.some(has)) return false;
  return rule.not === undefined || !rule.not.some(has);
}
