// Changes nested members of a JSON value, as text and as the parsed value. In the text everything that no edit touches keeps
// its bytes: unknown members, numbers that parsing would round, escapes.

import { arrayElements, spliceMembers, topLevelMembers } from "./json-splice.ts";

/** One change: the value at the path is replaced, or removed from its list or object if there is none. */
export interface JsonEdit {
  readonly path: readonly (string | number)[];
  readonly value?: unknown;
}

/** Edits by the first step of their path. */
type Steps = Map<string | number, JsonEdit[]>;

function byFirstStep(edits: readonly JsonEdit[]): Steps {
  const steps: Steps = new Map();
  for (const { path, ...rest } of edits) {
    const [first, ...deeper] = path;
    if (first === undefined) continue;
    const edit = { path: deeper, ...rest };
    const known = steps.get(first);
    if (known === undefined) steps.set(first, [edit]);
    else known.push(edit);
  }
  return steps;
}

/** The edit that ends here; deeper ones have no effect beside it. */
function whole(edits: readonly JsonEdit[]): JsonEdit | undefined {
  return edits.find(({ path }) => path.length === 0);
}

/**
 * The JSON text of an object with the edits applied; paths that do not exist are skipped, except for new members of objects.
 */
export function editJson(text: string, edits: readonly JsonEdit[]): string {
  if (edits.length === 0) return text;
  const steps = byFirstStep(edits);
  const start = text.search(/\S/);
  if (text.charCodeAt(start) === 91) return editedList(text, start, steps);
  const only: Record<string, unknown> = {};
  for (const name of steps.keys()) only[name] = undefined;
  const found = topLevelMembers(text, 0, only);
  const members: Record<string, unknown> = {};
  const cuts: { start: number; end: number; put: string }[] = [];
  for (const [name, deeper] of steps) {
    const end = whole(deeper);
    // Of repeated keys the last one counts.
    const span = found.get(String(name))?.at(-1);
    if (end !== undefined) members[name] = end.value;
    else if (span !== undefined) {
      const put = editJson(text.slice(span.valueStart, span.valueEnd), deeper);
      cuts.push({ start: span.valueStart, end: span.valueEnd, put });
    }
  }
  cuts.sort((a, b) => a.start - b.start);
  let out = "";
  let at = 0;
  for (const cut of cuts) {
    out += text.slice(at, cut.start) + cut.put;
    at = cut.end;
  }
  out += text.slice(at);
  return Object.keys(members).length === 0 ? out : spliceMembers(out, members);
}

function editedList(text: string, start: number, steps: Steps): string {
  const kept: string[] = [];
  arrayElements(text, start).forEach((span, i) => {
    const element = text.slice(span.start, span.end);
    const edits = steps.get(i);
    if (edits === undefined) {
      kept.push(element);
      return;
    }
    const end = whole(edits);
    if (end === undefined) kept.push(editJson(element, edits));
    else if (end.value !== undefined) kept.push(JSON.stringify(end.value));
  });
  return `[${kept.join(",")}]`;
}

/** The same edits on the parsed value; what no edit touches is shared with the original. */
export function editValue<T>(value: T, edits: readonly JsonEdit[]): T {
  if (edits.length === 0 || typeof value !== "object" || value === null) return value;
  const steps = byFirstStep(edits);
  if (Array.isArray(value)) {
    const list: unknown[] = value;
    return list.flatMap((element, i) => {
      const deeper = steps.get(i);
      if (deeper === undefined) return [element];
      const end = whole(deeper);
      if (end === undefined) return [editValue(element, deeper)];
      return end.value === undefined ? [] : [end.value];
    }) as T;
  }
  const out: Record<string | number, unknown> = { ...(value as Record<string, unknown>) };
  for (const [name, deeper] of steps) {
    const end = whole(deeper);
    if (end === undefined) out[name] = editValue(out[name], deeper);
    else if (end.value === undefined) delete out[name];
    else out[name] = end.value;
  }
  return out as T;
}
