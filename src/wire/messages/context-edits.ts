// `context_management` of the messages format, if the gateway applies it: reads its edits, and reports them in the answer.

import type { ClearedEdit, ContextEdit, EditedContext, EditTrigger } from "../../chat/context-edits.ts";
import type { Usage } from "../../chat/event.ts";
import * as check from "../check.ts";

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
export function messagesEdits(body: check.Fields): ContextEdit[] | undefined {
  const management = check.maybe(body, WHERE, check.expectFields);
  const edits = management === undefined ? undefined : check.maybe(management, "edits", check.expectList, WHERE);
  if (edits === undefined || edits.length === 0) return undefined;
  if (body["compaction"] != null) {
    check.reject(WHERE, `Invalid '${WHERE}': it cannot be combined with 'compaction'.`);
  }
  const taken = new Set<string>();
  return edits.map((value, i) => {
    const path = `${WHERE}.edits[${i}]`;
    const edit = check.expectFields(value, path);
    const type = check.need(edit, "type", check.expectOneOf(COMPACT, CLEAR_TOOL_USES, CLEAR_THINKING), path);
    if (taken.has(type))
      check.reject(`${path}.type`, `Invalid '${path}.type': '${type}' may only occur once in the list.`);
    taken.add(type);
    return READERS[type](edit, path);
  });
}

const READERS: Record<
  typeof COMPACT | typeof CLEAR_TOOL_USES | typeof CLEAR_THINKING,
  (edit: check.Fields, path: string) => ContextEdit
> = {
  [COMPACT]: (edit, path) => {
    const wish = check.maybe(edit, "instructions", check.expectString, path)?.trim();
    return {
      type: "compact",
      above: check.maybe(edit, "trigger", figure("input_tokens"), path)?.value ?? COMPACT_TOKENS,
      pauses: check.maybe(edit, "pause_after_compaction", check.expectBoolean, path) ?? false,
      wish: wish === "" ? undefined : wish,
    };
  },
  [CLEAR_TOOL_USES]: (edit, path) => ({
    type: "clear-results",
    trigger: triggerOf(check.maybe(edit, "trigger", figure("input_tokens", "tool_uses"), path)),
    keep: check.maybe(edit, "keep", figure("tool_uses"), path)?.value ?? KEPT_USES,
    atLeast: check.maybe(edit, "clear_at_least", figure("input_tokens"), path)?.value ?? 0,
    except: new Set(check.maybe(edit, "exclude_tools", check.expectListOf(check.expectString), path)),
    inputs: inputsOf(edit, path),
  }),
  [CLEAR_THINKING]: (edit, path) => ({ type: "clear-reasoning", keep: keptTurns(edit, path) }),
};

/** Checks an object `{type, value}` of one of these types. */
function figure<const T extends string>(...types: T[]): check.Check<{ type: T; value: number }> {
  return (value, path) => {
    const fields = check.expectFields(value, path);
    return {
      type: check.need(fields, "type", check.expectOneOf(...types), path),
      value: check.need(fields, "value", check.expectInteger(0), path),
    };
  };
}

function triggerOf(given: { type: "input_tokens" | "tool_uses"; value: number } | undefined): EditTrigger {
  if (given === undefined) return { tokens: CLEAR_TOKENS };
  return given.type === "tool_uses" ? { calls: given.value } : { tokens: given.value };
}

function inputsOf(edit: check.Fields, path: string): boolean | ReadonlySet<string> {
  const given = edit["clear_tool_inputs"];
  if (given === undefined || given === null || typeof given === "boolean") return given ?? false;
  return new Set(check.expectListOf(check.expectString)(given, check.at(path, "clear_tool_inputs")));
}

function keptTurns(edit: check.Fields, path: string): number {
  const { keep } = edit;
  if (keep === "all") return Number.POSITIVE_INFINITY;
  if (keep === undefined || keep === null) return KEPT_TURNS;
  const fields = check.expectFields(keep, check.at(path, "keep"));
  if (fields["type"] === "all") return Number.POSITIVE_INFINITY;
  return figure("thinking_turns")(keep, check.at(path, "keep")).value;
}

/** The edits as reported in an answer. */
export function appliedEdits({ cleared }: EditedContext): check.Fields {
  return { applied_edits: cleared.map(appliedEdit) };
}

function appliedEdit({ type, count, tokens }: ClearedEdit): check.Fields {
  return type === "clear-results"
    ? { type: CLEAR_TOOL_USES, cleared_tool_uses: count, cleared_input_tokens: tokens }
    : { type: CLEAR_THINKING, cleared_thinking_turns: count, cleared_input_tokens: tokens };
}

/** The iterations in a usage; undefined if there were no summaries. The first one is for the summaries and is in no sum. */
export function iterations(edited: EditedContext | undefined, own: check.Fields, read: (usage: Usage) => check.Fields) {
  if (edited?.usage === undefined) return undefined;
  return [
    { type: "compaction", ...read(edited.usage), cache_creation: null },
    { type: "message", ...own, cache_creation: null },
  ];
}
