// Lets one node at a time compact a stored conversation; the others wait and use what it stored. The text itself stays in the
// database. Conversations that are not stored are compacted by each node, since nothing of them may be kept elsewhere.

import type { Flights } from "../../../base/flights.ts";
import type { MeasuredElement } from "./measure.ts";
import { type Compaction, type CompactionMemory, type ConversationName, isStored, keyOf } from "./memory.ts";

/** The way to make a compaction, and to use one that another node made. */
export interface Making<T> {
  make(before: Compaction | undefined): Promise<T>;
  use(made: Compaction): T;
}

/** Makes a compaction here, or takes over the one that another node makes meanwhile. */
export async function madeOnce<T>(
  { memory, flights }: { readonly memory: CompactionMemory; readonly flights: Flights },
  { name, list }: { readonly name: ConversationName; readonly list: readonly MeasuredElement[] },
  { make, use }: Making<T>,
): Promise<T> {
  const before = await memory.match(name, list);
  if (!isStored(name)) return make(before);
  const anew = async () => {
    memory.reload(name);
    const found = await memory.match(name, list);
    return found === undefined || found.id === before?.id ? make(found) : use(found);
  };
  let own: { readonly made: T } | undefined;
  const work = async (hasWaited: boolean) => {
    // The other node may have stored one although word of it came too late.
    own = { made: await (hasWaited ? anew() : make(before)) };
    return null;
  };
  await flights.share(`compaction ${keyOf(name)}`, work, { keptMs: () => 0 });
  return own === undefined ? anew() : own.made;
}
