// Configuration keys that have another name now. In the version that renames a key, and in all that must not break what worked
// before, the old name is still understood, and a warning says the new one. Later versions refuse it, still with the new name.

import type { TSchema } from "@sinclair/typebox";
import { VERSION } from "../base/version.ts";
import type { Annotations } from "./fields.ts";
import type { Problem } from "./read.ts";
import { joinPath } from "./show.ts";
import { isGroup, valueAtPath, withoutValue, withValue } from "./tree.ts";
import type { Path } from "./yaml-lines.ts";

/** A key with its old and its new place, as the reference writes them: `providers.NAME.base_url`, `models[].id`. */
export interface RenamedKey {
  readonly from: string;
  /** Has the same NAMEs and lists as `from`, in the same order. */
  readonly to: string;
  /** The version that renamed it. */
  readonly since: string;
}

/** Every key that was renamed. A line stays for good, so that an old file always learns the new name. */
export const RENAMED: readonly RenamedKey[] = [];

/** A value that was given under an old name. */
export interface Move {
  readonly key: RenamedKey;
  readonly from: Path;
  readonly to: Path;
}

/** The value of a list's entry in a path that stands for many. */
const EACH = "[]";
const NAME = "NAME";

/** The first version that no longer understands an old name: the next one that may break something. */
export function refusedFrom({ since }: RenamedKey): string {
  const [major, minor] = seriesOf(since);
  return major === 0 ? `0.${minor + 1}.0` : `${major + 1}.0.0`;
}

/** Whether this version still understands the old name. */
export function isUnderstood(key: RenamedKey): boolean {
  const [major, minor] = seriesOf(VERSION);
  const [endMajor, endMinor] = seriesOf(refusedFrom(key));
  return major < endMajor || (major === endMajor && minor < endMinor);
}

function seriesOf(version: string): [number, number] {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return [major, minor];
}

/** Writes a path: as a key, or as a variable. */
type NameOf = (path: Path) => string;

/** A parsed file in which every old name has become the new one, what was moved, and what must not be there. */
export function renameKeys(raw: unknown, keys: readonly RenamedKey[], name: NameOf) {
  let tree = raw;
  const moves: Move[] = [];
  const problems: Problem[] = [];
  for (const key of keys) {
    for (const from of found(raw, stepsOf(key.from))) {
      const to = filled(key, from);
      const [old, now] = [name(from), name(to)];
      const report = (message: string) => problems.push({ path: "", message: `${old} ${message}` });
      const value = valueAtPath(raw, from);
      tree = withoutValue(tree, from);
      if (!isUnderstood(key)) report(`was renamed to ${now} in version ${key.since}`);
      else if (valueAtPath(tree, to) !== undefined) report(`was renamed to ${now}, which is given too; remove ${old}`);
      else {
        tree = withValue(tree, to, value);
        moves.push({ key, from, to });
      }
    }
  }
  return { raw: tree, moves, problems };
}

/** The path that the value at `path` was given under; `path` itself if it was not moved. */
export function pathAsGiven(path: Path, moves: readonly Move[]): Path {
  const move = moves.find(({ to }) => to.every((step, at) => path[at] === step));
  return move === undefined ? path : [...move.from, ...path.slice(move.to.length)];
}

/** What to tell about a value that was given under an old name. */
export function renamedWarning({ key, from, to }: Move, name: NameOf): string {
  return `${name(from)} was renamed to ${name(to)} in version ${key.since}; version ${refusedFrom(key)} no longer reads the old name`;
}

/** The schema with a node at every old place, for finding the key that a variable names. */
export function withOldKeys(schema: TSchema, keys: readonly RenamedKey[]): TSchema {
  return keys.reduce((node, { from, to }) => withNode(node, stepsOf(from), nodeAt(schema, stepsOf(to))), schema);
}

/** A path as the reference writes it. */
export function pathText(path: Path): string {
  return path.reduce<string>((so, step) => joinPath(so, step), "");
}

function stepsOf(key: string): string[] {
  return key.split(".").flatMap((step) => (step.endsWith(EACH) ? [step.slice(0, -EACH.length), EACH] : [step]));
}

/** The paths in `raw` for which `steps` stand. */
function found(raw: unknown, [step, ...rest]: readonly string[]): Path[] {
  if (step === undefined) return [[]];
  const below = (child: unknown, at: string | number) => found(child, rest).map((path) => [at, ...path]);
  if (step === EACH) return Array.isArray(raw) ? raw.flatMap(below) : [];
  if (!isGroup(raw)) return [];
  const names = step === NAME ? Object.keys(raw) : Object.hasOwn(raw, step) ? [step] : [];
  return names.flatMap((name) => below(raw[name], name));
}

/** The new path, with the names and places of the old one. */
function filled({ from, to }: RenamedKey, path: Path): Path {
  const isOpen = (step: string) => step === NAME || step === EACH;
  const own = path.filter((_, at) => isOpen(stepsOf(from)[at] ?? ""));
  return stepsOf(to).map((step) => (isOpen(step) ? (own.shift() ?? step) : step));
}

function childNode(schema: TSchema, step: string): TSchema {
  const node = schema as Annotations;
  const own = Object.hasOwn(node.properties ?? {}, step) ? node.properties?.[step] : undefined;
  return own ?? (step === EACH ? node.items : Object.values(node.patternProperties ?? {})[0]) ?? ({} as TSchema);
}

function nodeAt(schema: TSchema, steps: readonly string[]): TSchema {
  return steps.reduce(childNode, schema);
}

function withNode(schema: TSchema, [step, ...rest]: readonly string[], node: TSchema): TSchema {
  if (step === undefined) return node;
  const child = withNode(childNode(schema, step), rest, node);
  const { properties, patternProperties } = schema as Annotations;
  if (step === EACH) return { ...schema, items: child };
  const [pattern] = Object.keys(patternProperties ?? {});
  if (pattern !== undefined && step === NAME) return { ...schema, patternProperties: { [pattern]: child } };
  return { ...schema, properties: { ...properties, [step]: child } };
}
