// Light, dark, or the system's theme. The choice is a cookie, so that the server's HTML has the right theme at once.

import { useSignal } from "@preact/signals";
import { BASE } from "../contract.ts";

const CHOICES = [
  ["", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
] as const;

const YEAR_SECONDS = 31_536_000;

export function ThemeChoice() {
  const chosen = useSignal(document.documentElement.dataset["theme"] ?? "");
  const choose = (theme: string) => {
    chosen.value = theme;
    if (theme === "") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    const age = theme === "" ? 0 : YEAR_SECONDS;
    // biome-ignore lint/suspicious/noDocumentCookie: browsers offer the Cookie Store API only over HTTPS.
    document.cookie = `sallyport_theme=${theme}; Path=${BASE}; Max-Age=${age}; SameSite=Lax`;
  };
  return (
    <fieldset class="theme">
      <legend class="off-screen">Theme</legend>
      {CHOICES.map(([value, text]) => (
        <button type="button" key={value} aria-pressed={chosen.value === value} onClick={() => choose(value)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}
