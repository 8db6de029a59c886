// The cuts that a compaction needs beside the record: of a first user message that takes too much of the window, and of long tool
// results in the tail. They are decided once, when the compaction is made, and kept with it. Later requests are shortened in
// exactly the same way, so that they begin alike.

import type { EntryFormat } from "../../../chat/entries.ts";
import type { MeasuredElement, Sender, TokenMemory } from "./measure.ts";
import { type Compaction, endOf } from "./memory.ts";
import { firstUserAt, type ShortenedList, shapeList, wordsOf } from "./shape.ts";
import type { Space } from "./space.ts";

/** A shortened list and its size. */
export interface Sized extends ShortenedList {
  /** Tokens as counted by the gateway (`counted`) and as corrected by the model's reports (`after`). */
  counted: number;
  after: number;
}

/** Tokens of what no compaction replaces: instructions, tools, system messages and the first user message. */
export function unchangedTokens({ list, fixed }: MeasuredList): number {
  const first = firstUserAt(list);
  return list.reduce(
    (sum, { entry, tokens }, at) => (entry.role === "system" || at === first ? sum + tokens : sum),
    fixed,
  );
}

/** A conversation's list with its token counts. */
export interface MeasuredList {
  list: readonly MeasuredElement[];
  /** Tokens of instructions and tools. */
  fixed: number;
}

/** What a conversation's limits and counts depend on. */
interface Whose extends Sender {
  format: EntryFormat;
  space: Space;
}

/** The list that a compaction makes of the conversation, and its size. */
export async function sizedList(
  tokens: TokenMemory,
  { format, ...sender }: Omit<Whose, "space">,
  { list, fixed, cut }: MeasuredList & { cut: Compaction },
): Promise<Sized> {
  const shape = shapeList(list, format, { ...cut, strippedTo: cut.strippedTo ?? list.length });
  const measured = await tokens.measure(shape.list, format);
  const counted = measured.reduce((sum, one) => sum + one.tokens, fixed);
  return { ...shape, counted, after: tokens.own(sender, counted) };
}

/** The compaction with the cuts that it needs. */
export async function withCuts(
  tokens: TokenMemory,
  whose: Whose,
  { given, ...measure }: MeasuredList & { given: Compaction },
): Promise<Compaction> {
  const { space } = whose;
  const { list } = measure;
  const first = firstUserAt(list);
  let cut = given;
  let { after } = await sizedList(tokens, whose, { ...measure, cut });
  const apply = async (more: Partial<Compaction>) => {
    cut = { ...cut, ...more };
    after = (await sizedList(tokens, whose, { ...measure, cut })).after;
  };
  const cutFirst = async () => {
    if (first === undefined || first >= endOf(given)) return;
    const words = wordsOf(list[first]!);
    const own = tokens.own(whose, list[first]!.tokens);
    const most = Math.max(FIRST_USER_LEAST, own - (after - space.aim));
    if (most < own) await apply({ firstUserChars: Math.floor((words.length * most) / own) });
  };
  if (tokens.own(whose, unchangedTokens(measure)) > space.whole) await cutFirst();
  if (after > space.most) {
    for (let chars = RESULT_CHARS_FIRST; chars >= RESULT_CHARS_LAST && after > space.most * ROOM_SHARE; chars /= 4) {
      await apply({ clip: { chars, to: list.length } });
    }
  }
  // If not even short results suffice, the first user message may be the only long text left.
  if (after > space.most && cut.firstUserChars === undefined) await cutFirst();
  return cut;
}

/** The first user message is never cut below this many tokens. */
const FIRST_USER_LEAST = 200;
/** Results in the tail are cut to this many characters, then to a quarter of that, and so on. */
const RESULT_CHARS_FIRST = 64_000;
const RESULT_CHARS_LAST = 200;
/** Results are cut to less than what just fits, so that the next messages fit too. */
const ROOM_SHARE = 0.85;
