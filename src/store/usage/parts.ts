// The sums of a request's labels (its project and its tags), and of the classes by which its provider bills.

import { storable } from "../../base/storable.ts";

/** A project or a tag. */
export interface Label {
  readonly kind: "project" | "tag";
  readonly name: string;
}

/** Sums of one class of a provider's model. */
export interface ClassSums {
  readonly provider: string;
  /** The provider's own name of the model. */
  readonly model: string;
  /** The service tier or speed; "": the ordinary one. */
  readonly service: string;
  readonly class: string;
  amount: number;
  /** The part of the amount whose price is not known. */
  unpriced: number;
  costMicros: number;
}

/** What the labels of a request are read from. */
interface Labelled {
  readonly projectId?: string;
  readonly tags?: readonly string[];
}

/** Different tags of an account and a day that have sums of their own. Clients choose them, and each takes room for good. */
const TAGS_MAX = 1000;
/** The accounts whose tags are known. Above it, counting starts again for all of them. */
const ACCOUNTS_MAX = 10_000;
/** The tags of all accounts together that are known at once; further ones share a name too. */
const ALL_TAGS_MAX = 200_000;
/** Stands for the tags of a day above the limit. */
export const OTHER_TAGS = "(other tags)";

/** Says of which labels a request has sums, with a limit of different tags. */
export class LabelReader {
  readonly #known = new Map<string, { readonly day: number; readonly tags: Set<string> }>();
  /** The number of all known tags, and the latest day of a request. */
  #count = 0;
  #day = 0;

  /** The labels, each once; undefined for requests without any. */
  of(labelled: Labelled, accountId: string, day: number): Label[] | undefined {
    const hasNone = labelled.projectId === undefined && labelled.tags === undefined;
    return hasNone ? undefined : this.#all(labelled, accountId, day);
  }

  #all({ projectId, tags }: Labelled, accountId: string, day: number): Label[] {
    const labels: Label[] = projectId === undefined ? [] : [{ kind: "project", name: projectId }];
    const names = new Set((tags ?? []).map((tag) => this.#nameOf(tag, accountId, day)));
    for (const name of names) labels.push({ kind: "tag", name });
    return labels;
  }

  #nameOf(tag: string, accountId: string, day: number): string {
    if (day > this.#day || this.#known.size >= ACCOUNTS_MAX) this.#forget();
    this.#day = Math.max(this.#day, day);
    let known = this.#known.get(accountId);
    if (known?.day !== day) {
      this.#count -= known?.tags.size ?? 0;
      known = { day, tags: new Set() };
      this.#known.set(accountId, known);
    }
    const name = storable(tag);
    if (known.tags.has(name)) return name;
    if (known.tags.size >= TAGS_MAX || this.#count >= ALL_TAGS_MAX) return OTHER_TAGS;
    known.tags.add(name);
    this.#count++;
    return name;
  }

  #forget(): void {
    this.#known.clear();
    this.#count = 0;
  }
}

/** Adds sums of classes to those of the same provider, model, service and class. */
export function addClasses(to: Map<string, ClassSums>, from: Iterable<ClassSums>): void {
  for (const one of from) addToClasses(to, one);
}

/** The same of one. Returns the sums that it was added to. */
export function addToClasses(to: Map<string, ClassSums>, one: ClassSums): ClassSums {
  const place = `${one.provider}\n${one.service}\n${one.class}\n${one.model}`;
  let sums = to.get(place);
  if (sums === undefined) {
    sums = { ...one };
    to.set(place, sums);
  } else addClass(sums, one);
  return sums;
}

/** Adds what was billed in one class to its sums. */
export function addClass(sums: ClassSums, one: Pick<ClassSums, "amount" | "unpriced" | "costMicros">): void {
  sums.amount += one.amount;
  sums.unpriced += one.unpriced;
  sums.costMicros += one.costMicros;
}
