// Messages to the user: notices within a page, brief messages at its edge, and texts for empty lists.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

type Kind = "info" | "warn" | "danger" | "ok";

/** A highlighted paragraph. Screen readers announce one of kind `danger` at once. */
export function Notice({ kind = "info", children }: { kind?: Kind; children: ComponentChildren }) {
  return (
    <div class={`notice ${kind}`} role={kind === "danger" ? "alert" : "status"}>
      {children}
    </div>
  );
}

export function Badge({ kind, children }: { kind?: Kind | undefined; children: ComponentChildren }) {
  return <span class={`badge ${kind ?? ""}`}>{children}</span>;
}

/** The label of a request that failed. Its code may break after an underscore, never within a word. */
export function FailureBadge({ status, error, times = 1 }: { status: number; error: string | null; times?: number }) {
  const words = (error ?? "").split(/(?<=_)/);
  return (
    <span class="badge danger coded">
      {status} {words.flatMap((word, index) => (index === 0 ? [word] : [<wbr key={index} />, word]))}
      {times > 1 && ` × ${times}`}
    </span>
  );
}

/** Shown in place of an empty list. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

const message = signal<{ text: string; kind: Kind } | undefined>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;
/** Long enough to read a sentence. */
const SHOWN_MS = 6000;

/** Shows a message at the edge of the page for a few seconds. */
export function say(text: string, kind: Kind = "ok"): void {
  clearTimeout(timer);
  message.value = { text, kind };
  timer = setTimeout(() => (message.value = undefined), SHOWN_MS);
}

/** Removes the message, because what it says is no longer so. */
export function unsay(): void {
  clearTimeout(timer);
  message.value = undefined;
}

/** Shows the messages of `say`. The app renders it once. */
export function Messages() {
  const said = message.value;
  return (
    <div class="messages" role="status" aria-live="polite">
      {said !== undefined && <div class={`message ${said.kind}`}>{said.text}</div>}
    </div>
  );
}
