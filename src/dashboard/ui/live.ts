// Reads again and again what is still changing, while someone looks.

import { useEffect } from "preact/hooks";
import { type Loaded, useLoad } from "./load.ts";

const EVERY_MS = 1000;

/** As `useLoad`, and once a second more while `isOpen` says so and the tab is in sight. */
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
