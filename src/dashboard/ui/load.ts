// Reads a listing from the API when a page is opened, and again when something changed.
import { type Signal, useSignal } from "@preact/signals";
import { useCallback, useEffect } from "preact/hooks";
import { call } from "./api.ts";

/** What has come so far. The last good answer stays while a new one is on its way. */
export interface Loaded<T> {
  readonly value: Signal<T | undefined>;
  readonly problem: Signal<string | undefined>;
  reload(): Promise<void>;
}

/** Loads `/dashboard/api` + path now and whenever the path changes. */
export function useLoad<T>(path: string): Loaded<T> {
  const value = useSignal<T | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const reload = useCallback(async () => {
    try {
      value.value = await call<T>("GET", path);
      problem.value = undefined;
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error);
    }
  }, [path]);
  useEffect(() => {
    void reload();
  }, [reload]);
  return { value, problem, reload };
}
