// What was taken out of a page, and by which step: the answer to "why is this missing?".

import type { PageElement } from "../dom/node.ts";

/** One removal. */
export interface Removal {
  readonly step: string;
  /** `tag#id.class` of the element. */
  readonly element: string;
  readonly text: string;
}

/** Removes elements and remembers them while someone wants to know. */
export interface Trace {
  remove(element: PageElement, step: string): void;
  readonly removals: readonly Removal[];
}

const REMOVALS_MAX = 2000;
const TEXT_CHARS_MAX = 120;

/** A trace that keeps nothing unless `isKept`: describing removals costs more than removing. */
export function createTrace(isKept: boolean): Trace {
  const removals: Removal[] = [];
  return {
    removals,
    remove: (element, step) => {
      if (isKept && removals.length < REMOVALS_MAX)
        removals.push({
          step,
          element: describe(element),
          text: element.textContent.replace(/\s+/g, " ").trim().slice(0, TEXT_CHARS_MAX),
        });
      element.remove();
    },
  };
}

function describe(element: PageElement): string {
  const id = element.id === "" ? "" : `#${element.id}`;
  const names = element.className.split(/\s+/).filter((name) => name !== "");
  return `${element.tag}${id}${names.map((name) => `.${name}`).join("")}`;
}
