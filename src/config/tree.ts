// A parsed configuration file as a tree of groups and lists: values are read and replaced by path, always in a copy.

import { isRecord } from "../base/json-object.ts";
import { ExternalText } from "./read.ts";
import type { Path } from "./yaml-lines.ts";

/** A group of keys; text from outside the file is an object too, but a value. */
export function isGroup(raw: unknown): raw is Readonly<Record<string, unknown>> {
  return isRecord(raw) && !(raw instanceof ExternalText);
}

/** The keys of a group; none if it is not one. */
export function groupKeys(raw: unknown): Readonly<Record<string, unknown>> {
  return isGroup(raw) ? raw : {};
}

/** The value of a group under `key`; undefined if there is none or it is not a group. */
export function childOf(raw: unknown, key: string): unknown {
  const keys = groupKeys(raw);
  return Object.hasOwn(keys, key) ? (keys[key] ?? undefined) : undefined;
}

/** The value at `path`; undefined if there is none. */
export function valueAtPath(raw: unknown, path: Path): unknown {
  return path.reduce(
    (at, step) => (typeof step === "string" ? childOf(at, step) : Array.isArray(at) ? at[step] : undefined),
    raw,
  );
}

/** A copy of `raw` with `value` at `path`. A value on the way that is not a group stays: reading it reports it. */
export function withValue(raw: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof step === "number")
    return Array.isArray(raw) ? raw.map((one, at) => (at === step ? withValue(one, rest, value) : one)) : raw;
  if (raw !== undefined && raw !== null && !isGroup(raw)) return raw;
  return { ...groupKeys(raw), [step]: withValue(childOf(raw, step), rest, value) };
}

/** A copy of `raw` without the key at `path`, and without groups in which nothing else was. */
export function withoutValue(raw: unknown, path: Path): unknown {
  const [step, ...rest] = path;
  if (typeof step === "number")
    return Array.isArray(raw) ? raw.map((one, at) => (at === step ? withoutValue(one, rest) : one)) : raw;
  if (step === undefined || !isGroup(raw) || !Object.hasOwn(raw, step)) return raw;
  const left = rest.length === 0 ? undefined : withoutValue(raw[step], rest);
  if (left !== undefined && !(isGroup(left) && Object.keys(left).length === 0)) return { ...raw, [step]: left };
  return Object.fromEntries(Object.entries(raw).filter(([name]) => name !== step));
}
