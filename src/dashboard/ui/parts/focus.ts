// Moves the focus into what an action opened, and back when it is closed.

import { useCallback } from "preact/hooks";

const CONTROLS = "input:not([type=hidden]), select, textarea, button";

/**
 * The `ref` of an element that appears because of an action: its first control receives the focus, or, with `whole`, the
 * element itself, so that screen readers begin with its text.
 */
export function useArrival({ whole = false } = {}): (element: HTMLElement | null) => void {
  return useCallback(
    (element) => {
      if (element === null) return;
      if (whole) element.tabIndex = -1;
      const target = whole ? element : element.querySelector<HTMLElement>(CONTROLS);
      // What has been focused by a field of its own stays focused.
      if (!element.contains(document.activeElement)) target?.focus();
      element.scrollIntoView({ block: "nearest" });
    },
    [whole],
  );
}

/** Gives the focus back to the control that had it, or to the page if the control is gone. */
export function focusBack(to: Element | null): void {
  const target = to instanceof HTMLElement && to.isConnected ? to : document.getElementById("main");
  target?.focus();
}
