// What is probably true of an unknown model of a known family: the limits and abilities of its newest known sibling, preferably
// one of the same line (`gpt-6.1-terra` and `gpt-5.6-terra`). They are shown and never enforced, and prices are never inferred.

import { type NamedModel, nameParts } from "../vendors/model-facts.ts";
import { kindByName } from "../vendors/model-kind.ts";

/** Finds the sibling of an unknown id: its value, and its own id. */
export type SiblingLookup<V> = (id: string) => { readonly id: string; readonly value: V } | undefined;

interface Sibling<V> extends NamedModel {
  readonly id: string;
  readonly value: V;
}

/** Indexes known models by family. `size` decides between siblings of one version. */
export function siblingLookup<V>(known: Iterable<readonly [string, V]>, size: (value: V) => number): SiblingLookup<V> {
  const families = new Map<string, Sibling<V>[]>();
  for (const [id, value] of known) {
    const parts = partsOfChatModel(id);
    if (parts === undefined) continue;
    const members = families.get(parts.family) ?? [];
    members.push({ ...parts, id, value });
    families.set(parts.family, members);
  }
  // The best sibling comes first: the newest and, of equally new ones, the largest.
  for (const members of families.values())
    members.sort((a, b) => b.version - a.version || size(b.value) - size(a.value));
  return (id) => {
    const parts = partsOfChatModel(id);
    const members = parts === undefined ? undefined : families.get(parts.family);
    if (parts === undefined || members === undefined) return undefined;
    const line = members.filter((member) => member.line === parts.line);
    const among = line.length > 0 ? line : members;
    return among.find(({ version }) => version <= parts.version) ?? among[0];
  };
}

/** The parts of its name; undefined for models of other kinds, whose limits have another meaning. */
function partsOfChatModel(id: string): NamedModel | undefined {
  const kind = kindByName(id);
  return kind === undefined || kind === "chat" ? nameParts(id) : undefined;
}
