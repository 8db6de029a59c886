// Tabs that follow the usual keyboard pattern: Tab reaches only the selected tab, and the arrow keys move between tabs.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { keep, recall } from "../kept.ts";

/** A row of tabs above the panel of the selected one. */
export function Tabs(props: {
  label: string;
  names: readonly string[];
  panel: (index: number) => ComponentChildren;
  /** The name under which the selected tab is stored; absent: it is not. */
  kept?: string;
}) {
  const { label, names, panel, kept } = props;
  const chosen = useSignal((kept !== undefined && recall<number>(kept)) || 0);
  const select = (index: number) => {
    chosen.value = index;
    if (kept !== undefined) keep(kept, index);
  };
  const id = useId();
  const keydown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    select((chosen.value + step + names.length) % names.length);
    document.getElementById(`${id}-${chosen.value}`)?.focus();
  };
  return (
    <div class="tabbed">
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={keydown}>
        {names.map((name, index) => (
          <button
            key={name}
            id={`${id}-${index}`}
            type="button"
            role="tab"
            aria-selected={index === chosen.value}
            aria-controls={`${id}-panel`}
            tabIndex={index === chosen.value ? 0 : -1}
            onClick={() => select(index)}
          >
            {name}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${chosen.value}`}>
        {panel(chosen.value)}
      </div>
    </div>
  );
}
