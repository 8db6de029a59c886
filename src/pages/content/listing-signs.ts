// Removes what documentation places beside code listings: the language's name, line numbers and buttons.

import type { PageElement } from "../dom/node.ts";

const SIGNS = /^(?:lang|copy|line-numbers-wrapper|line-numbers|highlight-lines)$/;

/** Removes these where an element named after a language holds nothing but a listing and these. */
export function dropListingSigns(frame: PageElement): void {
  if (!/(?:^|\s)language-/.test(frame.className)) return;
  const { children } = frame;
  if (!children.some(({ tag }) => tag === "pre")) return;
  for (const child of children) if (SIGNS.test(child.className.trim())) child.remove();
}

const COPY = /^(?:copy(?: code| to clipboard)?|copied!?)$/i;

/** Whether an element is the button that copies a listing. */
export function isCopyButton(element: PageElement): boolean {
  return element.tag === "button" && COPY.test(element.textContent.trim());
}
