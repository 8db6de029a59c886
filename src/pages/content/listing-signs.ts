// Removes what documentation puts beside code listings: the language's name, line numbers, buttons.

import type { PageElement } from "../dom/node.ts";

const SIGNS = /^(?:lang|copy|line-numbers-wrapper|line-numbers|highlight-lines)$/;

/** Removes them where a division named after a language holds nothing but a listing and them. */
export function dropListingSigns(frame: PageElement): void {
  if (!/(?:^|\s)language-/.test(frame.className)) return;
  const { children } = frame;
  if (!children.some(({ tag }) => tag === "pre")) return;
  for (const child of children) if (SIGNS.test(child.className.trim())) child.remove();
}
