// `context_management` of the messages format, if the gateway applies it: reads its edits, and reports them in the answer.

import type { ClearedEdit, ContextEdit, EditedContext, EditTrigger } from "../../chat/context-edits.ts";
import type { Usage } from "../../chat/event.ts";
import {
  at,
  type Check,
  expectBoolean,
  expectFields,
  expectInteger,
  expectList,
  expectListOf,
  expectOneOf,
  expectString,
  type Fields,
  maybe,
  need,
  reject,
} from "../check.ts";

const COMPACT = "compact_20260112";
const CLEAR_TOOL_USES = "clear_tool_uses_20250919";
const CLEAR_THINKING = "clear_thinking_20251015";

/** The values that apply if the client gives none. */
const COMPACT_TOKENS = 150_000;
const CLEAR_TOKENS = 100_000;
const KEPT_USES = 3;
const KEPT_TURNS = 1;

const WHERE = "context_management";

/** Reads the edits of a body in order; undefined if there are none. Throws 400 that names the invalid member. */
export function messagesEdits(body: Fields): ContextEdit[] | undefined {
  const management = maybe(body, WHERE, expectFields);
  const edits = management === undefined ? undefined : maybe(management, "edits", expectList, WHERE);
  if (edits === undefined || edits.length === 0) return undefined;
  if (body["compaction"] != null) {
    reject(WHERE, `Invalid '${WHERE}': it cannot be combined with 'compaction'.`);
  }
  const taken = new Set<string>();
  return edits.map((value, i) => {
    const path = `${WHERE}.edits[${i}]`;
    const edit = expectFields(value, path);
    const type = need(edit, "type", expectOneOf(COMPACT, CLEAR_TOOL_USES, CLEAR_THINKING), path);
    if (taken.has(type)) reject(`${path}.type`, `Invalid '${path}.type': '${type}' may only occur once in the list.`);
    taken.add(type);
    return READERS[type](edit, path);
  });
}

const READERS: Record<
  typeof COMPACT | typeof CLEAR_TOOL_USES | typeof CLEAR_THINKING,
  (edit: Fields, path: string) => ContextEdit
> = {
  [COMPACT]: (edit, path) => {
    const wish = maybe(edit, "instructions", expectString, path)?.trim();
    return {
      type: "compact",
      above: maybe(edit, "trigger", figure("input_tokens"), path)?.value ?? COMPACT_TOKENS,
      pauses: maybe(edit, "pause_after_compaction", expectBoolean, path) ?? false,
      wish: wish === "" ? undefined : wish,
    };
  },
  [CLEAR_TOOL_USES]: (edit, path) => ({
    type: "clear-results",
    trigger: triggerOf(maybe(edit, "trigger", figure("input_tokens", "tool_uses"), path)),
    keep: maybe(edit, "keep", figure("tool_uses"), path)?.value ?? KEPT_USES,
    atLeast: maybe(edit, "clear_at_least", figure("input_tokens"), path)?.value ?? 0,
    except: new Set(maybe(edit, "exclude_tools", expectListOf(expectString), path)),
    inputs: inputsOf(edit, path),
  }),
  [CLEAR_THINKING]: (edit, path) => ({ type: "clear-reasoning", keep: keptTurns(edit, path) }),
};

/** Checks an object `{type, value}` of one of these types. */
function figure<const T extends string>(...types: T[]): Check<{ type: T; value: number }> {
  return (value, path) => {
    const fields = expectFields(value, path);
    return {
      type: need(fields, "type", expectOneOf(...types), path),
      value: need(fields, "value", expectInteger(0), path),
    };
  };
}

function triggerOf(given: { type: "input_tokens" | "tool_uses"; value: number } | undefined): EditTrigger {
  if (given === undefined) return { tokens: CLEAR_TOKENS };
  return given.type === "tool_uses" ? { calls: given.value } : { tokens: given.value };
}

function inputsOf(edit: Fields, path: string): boolean | ReadonlySet<string> {
  const given = edit["clear_tool_inputs"];
  if (given === undefined || given === null || typeof given === "boolean") return given ?? false;
  return new Set(expectListOf(expectString)(given, at(path, "clear_tool_inputs")));
}

function keptTurns(edit: Fields, path: string): number {
  const { keep } = edit;
  if (keep === "all") return Number.POSITIVE_INFINITY;
  if (keep === undefined || keep === null) return KEPT_TURNS;
  const fields = expectFields(keep, at(path, "keep"));
  if (fields["type"] === "all") return Number.POSITIVE_INFINITY;
  return figure("thinking_turns")(keep, at(path, "keep")).value;
}

/** The edits as reported in an answer. */
export function appliedEdits({ cleared }: EditedContext): Fields {
  return { applied_edits: cleared.map(appliedEdit) };
}

function appliedEdit({ type, count, tokens }: ClearedEdit): Fields {
  return type === "clear-results"
    ? { type: CLEAR_TOOL_USES, cleared_tool_uses: count, cleared_input_tokens: tokens }
    : { type: CLEAR_THINKING, cleared_thinking_turns: count, cleared_input_tokens: tokens };
}

/** The iterations in a usage; undefined if there were no summaries. The first one is for the summaries and is in no sum. */
export function iterations(edited: EditedContext | undefined, own: Fields, read: (usage: Usage) => Fields) {
  if (edited?.usage === undefined) return undefined;
  return [
    { type: "compaction", ...read(edited.usage), cache_creation: null },
    { type: "message", ...own, cache_creation: null },
  ];
}
