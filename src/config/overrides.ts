// Overrides of the file: SALLYPORT_<SECTION>_<KEY> variables and command-line options. They are merged into the parsed file
// before it is read, so they are validated like everything in it.

import type { TSchema } from "@sinclair/typebox";
import type { Annotations } from "./fields.ts";
import { ExternalText, type Problem, parseJson } from "./read.ts";
import {
  type Move,
  pathAsGiven,
  pathText,
  type RenamedKey,
  renamedWarning,
  renameKeys,
  withOldKeys,
} from "./renamed.ts";
import { childOf, groupKeys, isGroup, valueAtPath, withValue } from "./tree.ts";
import type { Path } from "./yaml-lines.ts";

const PREFIX = "SALLYPORT_";
/** The source of a problem that is with several variables. */
const ENVIRONMENT = "environment";
/** Variables of ours that are not configuration keys. The guides tell people to export the last two, for their clients. */
const OTHER = new Set(["SALLYPORT_CONFIG", "SALLYPORT_URL", "SALLYPORT_KEY"]);

/** The variables of a program, and the keys that have another name now. */
interface Overrides {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly renamed: readonly RenamedKey[];
}

/** The parsed file with the environment's overrides; variables that look like one and name no key are warned about. */
export function withEnvironment(schema: TSchema, file: unknown, { env, renamed }: Overrides) {
  let raw = file;
  const warnings: string[] = [];
  const problems: Problem[] = [];
  const moves: Move[] = [];
  const withOld = renamed.length === 0 ? schema : withOldKeys(schema, renamed);
  const setBy = new Map<string, { readonly name: string; readonly isOld: boolean }>();
  // In the order of names, so that SALLYPORT_X comes before the keys in it.
  for (const [name, value] of Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))) {
    // Compose files pass an unset variable as an empty one.
    if (!name.startsWith(PREFIX) || OTHER.has(name) || value === undefined || value === "") continue;
    const path = findKey(withOld, raw, name.slice(PREFIX.length));
    if (path === undefined) {
      warnings.push(`${name} is ignored: there is no such configuration key`);
      continue;
    }
    const own = presentForm(path, { name, value, renamed });
    warnings.push(...own.warnings);
    problems.push(...own.problems);
    moves.push(...own.moves);
    for (const at of own.places) {
      const before = setBy.get(pathText(at));
      const isOld = pathAsGiven(at, own.moves) !== at;
      // Two variables can only set one key if one of them is its old name.
      if (before !== undefined && (isOld || before.isOld)) {
        const [old, now] = isOld ? [name, before.name] : [before.name, name];
        const message = `${old} was renamed to ${now}, which is given too; remove ${old}`;
        problems.push({ path: "", message, source: ENVIRONMENT });
      }
      setBy.set(pathText(at), { name, isOld });
      raw = withValue(raw, at, valueAtPath(own.raw, at));
    }
  }
  return { raw, warnings, problems, moves };
}

/** One variable. */
interface Variable {
  readonly name: string;
  readonly value: string;
  readonly renamed: readonly RenamedKey[];
}

/** The value of one variable with the present names of all keys, and the paths that it sets. */
function presentForm(path: Path, { name, value, renamed }: Variable) {
  // The variable's own name may be old, or the keys in its JSON.
  const isOld = hasOldKey(withValue(undefined, path, true), renamed);
  const { raw, moves, problems } = renameKeys(
    withValue(undefined, path, readValue(path, { name, value, renamed })),
    renamed,
    isOld ? variableOf : pathText,
  );
  return {
    raw,
    moves,
    places: placesOf(path, { raw, moves }),
    problems: problems.map((problem) => ({ ...problem, source: isOld ? ENVIRONMENT : name })),
    warnings: moves.map((move) =>
      isOld ? renamedWarning(move, variableOf) : `${name}: ${renamedWarning(move, pathText)}`,
    ),
  };
}

function hasOldKey(raw: unknown, renamed: readonly RenamedKey[]): boolean {
  const { moves, problems } = renameKeys(raw, renamed, pathText);
  return moves.length + problems.length > 0;
}

/** Where the value of one variable goes: to its key, unless that has another name, and to what moved out of it. */
function placesOf(path: Path, { raw, moves }: { raw: unknown; moves: readonly Move[] }): Path[] {
  const whole = moves.find(({ from }) => from.length <= path.length);
  if (whole !== undefined) return [[...whole.to, ...path.slice(whole.from.length)]];
  const isKept = valueAtPath(raw, path) !== undefined;
  return [...(isKept ? [path] : []), ...moves.map(({ to }) => to)];
}

/** The variable that sets the key at `path`. */
export function variableOf(path: Path): string {
  return `${PREFIX}${path.map((step) => variableName(String(step))).join("_")}`;
}

/**
 * The path of the key that `word` (such as `SERVER_MAX_BODY`) names. Entries of maps are matched with the existing
 * names, otherwise taken in lower case.
 */
function findKey(schema: TSchema, raw: unknown, word: string): string[] | undefined {
  const node = schema as TSchema & Annotations;
  if (word === "") return [];
  if (node.properties !== undefined) {
    return firstOf(Object.keys(node.properties), word, (key, rest) =>
      findKey(node.properties?.[key] ?? ({} as TSchema), childOf(raw, key), rest),
    );
  }
  const value = Object.values(node.patternProperties ?? {})[0];
  if (value === undefined || value["type"] !== "object") return undefined;
  const used = [...Object.keys(groupKeys(raw)), ...Object.keys(node.entries ?? {})];
  return firstOf(used, word, (key, rest) => findKey(value, childOf(raw, key), rest)) ?? newEntry(value, word);
}

/** `MY_LLM_BASE_URL` is `base_url` of a new entry `my_llm`. */
function newEntry(value: TSchema, word: string): string[] | undefined {
  for (let at = word.indexOf("_"); at > 0; at = word.indexOf("_", at + 1)) {
    const rest = findKey(value, undefined, word.slice(at + 1));
    if (rest !== undefined && rest.length > 0) return [word.slice(0, at).toLowerCase(), ...rest];
  }
  return undefined;
}

function firstOf(
  keys: readonly string[],
  word: string,
  then: (key: string, rest: string) => string[] | undefined,
): string[] | undefined {
  // Longest first: a key whose name begins with another's is the closer match.
  for (const key of [...keys].sort((a, b) => b.length - a.length)) {
    const name = variableName(key);
    if (word !== name && !word.startsWith(`${name}_`)) continue;
    const path = then(key, word === name ? "" : word.slice(name.length + 1));
    if (path !== undefined) return [key, ...path];
  }
  return undefined;
}

/** A key's name in a variable. */
function variableName(key: string): string {
  return key.toUpperCase().replace(/[^A-Z0-9]/g, "_");
}

function readValue(path: Path, { name, value: text, renamed }: Variable): unknown {
  const first = text.trimStart().slice(0, 1);
  const value = first === "{" || (first === "[" && renamed.length > 0) ? parseJson(text) : text;
  // A list stays text, which has a source, unless there are old names in it.
  const isKept = isGroup(value) || (Array.isArray(value) && hasOldKey(withValue(undefined, path, value), renamed));
  return isKept ? value : new ExternalText(text, name);
}
