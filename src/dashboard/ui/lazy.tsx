// Loads rarely used pages when they are opened.

import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { Notice } from "./parts/notice.tsx";

/** A page whose code is loaded when it is first shown. */
export function lazy<Name extends string>(
  load: () => Promise<Record<Name, FunctionComponent>>,
  name: Name,
): FunctionComponent {
  let loaded: FunctionComponent | undefined;
  return function Lazy({ children }) {
    const state = useSignal<"loading" | "here" | "failed">(loaded === undefined ? "loading" : "here");
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then(
        (module) => {
          loaded = module[name];
          state.value = "here";
        },
        () => {
          state.value = "failed";
        },
      );
    }, []);
    if (state.value === "failed") return <Notice kind="danger">This page could not be loaded. Reload it.</Notice>;
    const Page = state.value === "here" ? loaded : undefined;
    return Page === undefined ? null : <Page>{children}</Page>;
  };
}
