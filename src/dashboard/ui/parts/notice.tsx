// What the page tells its reader: notices in place, short messages at the edge, and what stands where there is nothing yet.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

type Kind = "info" | "warn" | "danger" | "ok";

/** A paragraph that stands out; dangers are read out at once. */
export function Notice({ kind = "info", children }: { kind?: Kind; children: ComponentChildren }) {
  return (
    <div class={`notice ${kind}`} role={kind === "danger" ? "alert" : "status"}>
      {children}
    </div>
  );
}

/** A word with a colour. */
export function Badge({ kind, children }: { kind?: Kind | undefined; children: ComponentChildren }) {
  return <span class={`badge ${kind ?? ""}`}>{children}</span>;
}

/** Shown in place of an empty list. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

const message = signal<{ text: string; kind: Kind } | undefined>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;
/** Long enough to read a sentence. */
const SHOWN_MS = 6000;

/** Says something at the edge of the page for a few seconds. */
export function say(text: string, kind: Kind = "ok"): void {
  clearTimeout(timer);
  message.value = { text, kind };
  timer = setTimeout(() => (message.value = undefined), SHOWN_MS);
}

/** Where `say` speaks; once in the page. */
export function Messages() {
  const said = message.value;
  return (
    <div class="messages" role="status" aria-live="polite">
      {said !== undefined && <div class={`message ${said.kind}`}>{said.text}</div>}
    </div>
  );
}
