// Clears parts of a conversation on the client's request: old tool results become placeholders, and the reasoning of old turns is
// removed. The result is deterministic: the same list and edits always give the same text.

import type { ClearedEdit, ClearReasoningEdit, ClearResultsEdit, ContextEdit } from "../../../chat/context-edits.ts";
import type { Element, EntryFormat } from "../../../chat/entries.ts";
import type { MeasuredElement, Sender, TokenMemory } from "./measure.ts";
import { callNames, placeholder } from "./shape.ts";

/** A list after clearing. */
export interface Cleared {
  list: readonly MeasuredElement[];
  cleared: ClearedEdit[];
  /** Tokens removed, as counted by the gateway. */
  gone: number;
}

/** What to clear, and how to count tokens. */
export interface Clearing {
  edits: readonly ContextEdit[];
  format: EntryFormat;
  tokens: TokenMemory;
  /** Whose requests to which model: their token counts apply. */
  sender: Sender;
  /** Tokens of instructions and tools, as counted by the gateway. */
  fixed: number;
}

/** Applies the edits in order. An edit is skipped if its trigger is not reached. */
export async function clear(list: readonly MeasuredElement[], clearing: Clearing): Promise<Cleared> {
  const { edits, format, tokens, sender, fixed } = clearing;
  const before = countOf(list);
  const out: Cleared = { list, cleared: [], gone: 0 };
  for (const edit of edits) {
    if (edit.type === "compact") continue;
    const counted = fixed + countOf(out.list);
    const rewritten =
      edit.type === "clear-results"
        ? withoutResults(out.list, format, { edit, total: tokens.own(sender, counted) })
        : withoutThoughts(out.list, format, edit);
    if (rewritten === undefined) continue;
    const measured = await tokens.measure(rewritten.list, format);
    const gone = tokens.own(sender, counted) - tokens.own(sender, fixed + countOf(measured));
    if (gone <= 0 || (edit.type === "clear-results" && gone < edit.atLeast)) continue;
    out.list = measured;
    out.cleared.push({ type: edit.type, count: rewritten.count, tokens: gone });
  }
  out.gone = before - countOf(out.list);
  return out;
}

/** Tokens of a list, as counted by the gateway. */
export function countOf(list: readonly MeasuredElement[]): number {
  return list.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** A rewritten list, and the number of parts that were cleared. */
interface Rewritten {
  list: Element[];
  count: number;
}

function withoutResults(
  list: readonly MeasuredElement[],
  format: EntryFormat,
  { edit, total }: { edit: ClearResultsEdit; total: number },
): Rewritten | undefined {
  const answered = new Set<string>();
  for (const { entry } of list) for (const piece of entry.pieces) if (piece.type === "result") answered.add(piece.id);
  const names = callNames(list);
  const uses = [...names.keys()].filter((id) => answered.has(id));
  const { trigger, keep, except, inputs } = edit;
  const isDue = "tokens" in trigger ? total > trigger.tokens : uses.length > trigger.calls;
  if (!isDue) return undefined;
  const old = new Set(uses.slice(0, Math.max(0, uses.length - keep)).filter((id) => !except.has(names.get(id) ?? "")));
  const touched = new Set<string>();
  const clearsInput = (id: string, name: string) =>
    old.has(id) && (typeof inputs === "boolean" ? inputs : inputs.has(name));
  const rewritten = list.map(({ element }) => {
    const cleared = format.withResults(element, (result) => {
      const shortText = placeholder(result, names);
      // A result is left alone if its placeholder would be longer than the result, or if it already is a placeholder.
      if (!old.has(result.id) || (result.text.length <= shortText.length && result.media.length === 0))
        return undefined;
      touched.add(result.id);
      return shortText;
    });
    const { withoutInputs } = format.editing ?? {};
    if (withoutInputs === undefined || inputs === false) return cleared;
    return withoutInputs(cleared, ({ id, name, text }) => {
      if (text === "{}" || !clearsInput(id, name)) return false;
      touched.add(id);
      return true;
    });
  });
  return touched.size === 0 ? undefined : { list: rewritten, count: touched.size };
}

/** A turn is everything that the assistant says between two user messages; a loop of tool calls is one turn. */
function withoutThoughts(
  list: readonly MeasuredElement[],
  format: EntryFormat,
  { keep }: ClearReasoningEdit,
): Rewritten | undefined {
  let turn = 0;
  const turns = list.map(({ entry }) => {
    if (entry.role === "user") turn++;
    return entry.role === "assistant" && entry.pieces.some(({ type }) => type === "reasoning") ? turn : undefined;
  });
  const thinking = [...new Set(turns.filter((one) => one !== undefined))];
  const old = new Set(thinking.slice(0, Math.max(0, thinking.length - keep)));
  const { withoutThoughts: strip } = format.editing ?? {};
  if (old.size === 0 || strip === undefined) return undefined;
  const rewritten = list.flatMap(({ element }, at) => {
    const own = turns[at];
    const stripped = own !== undefined && old.has(own) ? strip(element) : element;
    return stripped === undefined ? [] : [stripped];
  });
  return { list: rewritten, count: old.size };
}
