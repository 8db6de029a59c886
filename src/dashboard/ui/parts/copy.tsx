// Copies text. Browsers offer no Clipboard API over plain HTTP, so there `execCommand` copies a selection.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Icon } from "./icon.tsx";

const SAID_MS = 2000;

/** A button that copies a text and confirms it. `what` completes the label "Copy …" for screen readers. */
export function CopyButton(props: { text: string | (() => string); what: string; label?: string }) {
  const { text, what, label = "Copy" } = props;
  const copied = useSignal<boolean | undefined>(undefined);
  useEffect(() => {
    if (copied.value === undefined) return undefined;
    const timer = setTimeout(() => (copied.value = undefined), SAID_MS);
    return () => clearTimeout(timer);
  }, [copied.value]);
  const click = async () => {
    copied.value = await copyText(typeof text === "string" ? text : text());
  };
  // The name contains the text that is shown, so that it can be spoken to the button.
  const name = copied.value === undefined ? `${label} ${what}` : undefined;
  return (
    <button type="button" class="copy" onClick={click} aria-label={name}>
      <Icon name={copied.value ? "check" : "copy"} />
      <span aria-live="polite">{copied.value === undefined ? label : copied.value ? "Copied" : "Press Ctrl+C"}</span>
    </button>
  );
}

async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    const done = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    if (done) return true;
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "off-screen";
  // Inside the open dialog, if there is one, since nothing outside of it can be selected.
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

/** Code with a copy button. */
export function Code({ text, what }: { text: string; what: string }) {
  return (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: only a focused element can be scrolled by keyboard. */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
