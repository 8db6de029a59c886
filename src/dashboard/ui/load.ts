// Reads a listing from the API when a page is opened, when something has changed, when the reader returns to the tab,
// and when a server that could not be reached is available again.

import { type Signal, useSignal } from "@preact/signals";
import { useCallback, useEffect, useRef } from "preact/hooks";
import { call, Refused } from "./api.ts";

/** The data that has arrived. The last good answer stays while a new one for the same path is being loaded. */
export interface Loaded<T> {
  readonly value: Signal<T | undefined>;
  readonly problem: Signal<string | undefined>;
  reload(): Promise<void>;
}

/** The delay between two attempts while the server cannot be reached. */
const RETRY_MS = 3000;
/** Data older than this is reloaded when the reader returns to the tab. */
const STALE_MS = 15_000;

/** Loads `/dashboard/api` + path now and whenever the path changes. */
export function useLoad<T>(path: string): Loaded<T> {
  const value = useSignal<T | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const good = useRef({ path: "", atMs: 0 });
  const retry = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const latest = useRef(path);
  latest.current = path;
  const reload = useCallback(async () => {
    clearTimeout(retry.current);
    try {
      const answer = await call<T>("GET", path);
      // A slow answer must not take the place of one that was asked for later.
      if (latest.current !== path) return;
      value.value = answer;
      problem.value = undefined;
      good.current = { path, atMs: Date.now() };
    } catch (error) {
      const unreachable = error instanceof Refused && error.code === "unreachable";
      const message = error instanceof Error ? error.message : String(error);
      problem.value = unreachable ? "The server cannot be reached. Trying again…" : message;
      // The figures of another span must not be shown as those of the chosen one.
      if (good.current.path !== path) value.value = undefined;
      if (unreachable) retry.current = setTimeout(reload, RETRY_MS);
    }
  }, [path]);
  useEffect(() => {
    void reload();
    const back = () => {
      if (document.visibilityState === "visible" && Date.now() - good.current.atMs > STALE_MS) void reload();
    };
    document.addEventListener("visibilitychange", back);
    addEventListener("online", back);
    return () => {
      clearTimeout(retry.current);
      document.removeEventListener("visibilitychange", back);
      removeEventListener("online", back);
    };
  }, [reload]);
  return { value, problem, reload };
}
