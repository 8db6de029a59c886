// Records which parts of a page were removed or kept, and by which step, so that it can be told why a part is missing.

import type { PageElement } from "../dom/node.ts";

/** A removed element. */
export interface Removal {
  readonly step: string;
  /** `tag#id.class` of the element. */
  readonly element: string;
  readonly text: string;
}

/** A part of the page that was judged: a paragraph, a heading, a list item or a cell. */
export interface TracedPart {
  readonly kept: boolean;
  /** The step that decided last. */
  readonly step: string;
  readonly because: string;
  /** The probability that it is main content, from 0 to 1. */
  readonly verdict: number;
  /** `tag#id.class` of the element. */
  readonly element: string;
  readonly text: string;
}

/** Removes elements and records them if a trace is wanted. */
export interface Trace {
  /** Whether anything is recorded. */
  readonly isKept: boolean;
  remove(element: PageElement, step: string): void;
  judge(part: Omit<TracedPart, "element" | "text">, element: PageElement, text: string): void;
  readonly removals: readonly Removal[];
  readonly parts: readonly TracedPart[];
}

const REMOVALS_MAX = 2000;
const PARTS_MAX = 5000;
const TEXT_CHARS_MAX = 120;

/** Creates a trace. It records nothing unless `isKept`, since describing a removal takes more time than the removal. */
export function createTrace(isKept: boolean): Trace {
  const removals: Removal[] = [];
  const parts: TracedPart[] = [];
  return {
    isKept,
    removals,
    parts,
    remove: (element, step) => {
      if (isKept && removals.length < REMOVALS_MAX)
        removals.push({ step, element: describe(element), text: shorten(element.textContent) });
      element.remove();
    },
    judge: (part, element, text) => {
      if (isKept && parts.length < PARTS_MAX) parts.push({ ...part, element: describe(element), text: shorten(text) });
    },
  };
}

function shorten(text: string): string {
  return text.replace(/\s+/g, " ").trim().slice(0, TEXT_CHARS_MAX);
}

function describe(element: PageElement): string {
  const id = element.id === "" ? "" : `#${element.id}`;
  const names = element.className.split(/\s+/).filter((name) => name !== "");
  return `${element.tag}${id}${names.map((name) => `.${name}`).join("")}`;
}
