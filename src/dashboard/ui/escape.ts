// Handles the Escape key, wherever the focus is.

import { useEffect } from "preact/hooks";

/** Calls `pressed` on Escape while `isOn`; an open dialog takes precedence. */
export function useEscape(isOn: boolean, pressed: () => void): void {
  useEffect(() => {
    if (!isOn) return undefined;
    const listen = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      if (document.querySelector("dialog[open]") === null) pressed();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  });
}
