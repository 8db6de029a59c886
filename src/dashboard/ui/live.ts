// Reloads data that still changes, while the page is visible.

import { useEffect } from "preact/hooks";
import { type Loaded, useLoad } from "./load.ts";

const EVERY_MS = 1000;

/** Like `useLoad`, but reloads every second while `isOpen` is true and the tab is visible. */
export function useLive<T>(path: string, isOpen: (value: T) => boolean): Loaded<T> {
  const loaded = useLoad<T>(path);
  const { value } = loaded.value;
  const isLive = value !== undefined && isOpen(value);
  useEffect(() => {
    if (!isLive) return undefined;
    let isBusy = false;
    const timer = setInterval(() => {
      if (isBusy || document.visibilityState !== "visible") return;
      isBusy = true;
      void loaded.reload().finally(() => (isBusy = false));
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [path, isLive]);
  return loaded;
}
