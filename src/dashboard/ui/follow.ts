// Follows Server-Sent Events while the page is visible. Continues after the last row it received, also when the server
// was unavailable.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Refused, refusalOf, send } from "./api.ts";

/** The state of a live view. */
type FollowState = "off" | "on" | "waiting" | "refused";

const RETRY_MS = 2000;

/**
 * Calls `take` with each row from `path` that follows the row `after`. If `path` is undefined, nothing is followed. An
 * error of the server ends it, with the reason.
 */
export function useFollow<T extends { readonly id: number }>(
  path: string | undefined,
  { after, take }: { after: number; take: (row: T) => void },
): { state: FollowState; reason: string } {
  const state = useSignal<FollowState>("off");
  const reason = useSignal("");
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    if (path === undefined) {
      state.value = "off";
      return undefined;
    }
    let last = after;
    let stopping = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = async () => {
      const { signal } = stopping;
      try {
        const response = await send("GET", `${path}&after=${last}`, { signal });
        if (!response.ok || response.body === null) throw await refusalOf(response);
        state.value = "on";
        for await (const row of rowsOf<T>(response.body)) {
          last = Math.max(last, row.id);
          latest.current(row);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Refused && error.status !== 0 && error.status < 500) {
          state.value = "refused";
          reason.value = error.message;
          return;
        }
      }
      if (signal.aborted) return;
      state.value = "waiting";
      timer = setTimeout(run, RETRY_MS);
    };
    const look = () => {
      clearTimeout(timer);
      stopping.abort();
      stopping = new AbortController();
      if (document.visibilityState === "visible") void run();
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      clearTimeout(timer);
      stopping.abort();
    };
  }, [path]);
  return { state: state.value, reason: reason.value };
}

async function* rowsOf<T>(body: NonNullable<Response["body"]>): AsyncGenerator<T, void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const lines = (rest + read.value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data: ")) yield JSON.parse(line.slice("data: ".length)) as T;
  }
}
