// Keeps the input of a form over a reload and a sign-in, by the names of its fields. Passwords are never stored.

import type { Signal } from "@preact/signals";
import { useCallback, useRef } from "preact/hooks";
import { forget, keep, recall } from "../kept.ts";

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
type Input = Readonly<Record<string, string>>;

/** The `ref` of a form whose input is stored under `name`. */
export function useKeptForm(name: string, busy: Signal<boolean>): (element: HTMLFormElement | null) => void {
  const release = useRef<() => void>(() => undefined);
  return useCallback(
    (form) => {
      release.current();
      release.current = () => undefined;
      if (form === null) return;
      // An element that replaces the one that is being sent is for new input.
      if (busy.peek()) forget(name);
      for (const [field, value] of Object.entries(recall<Input>(name) ?? {})) fill(form, field, value);
      const save = ({ target }: Event) => {
        if (isKept(target)) keep(name, { ...recall<Input>(name), [target.name]: inputOf(target) });
      };
      form.addEventListener("input", save);
      release.current = () => form.removeEventListener("input", save);
    },
    [name],
  );
}

function fill(form: HTMLFormElement, field: string, value: string): void {
  const control = form.elements.namedItem(field);
  if (!isKept(control)) return;
  if (control instanceof HTMLInputElement && control.type === "checkbox") control.checked = value === "on";
  else control.value = value;
  // The restored input is visible.
  for (let at = control.closest("details"); at !== null; at = at.parentElement?.closest("details") ?? null)
    at.open = true;
}

function isKept(target: unknown): target is Control {
  // A secret that is shown has the type of a text.
  if (target instanceof HTMLInputElement)
    return target.name !== "" && target.dataset["secret"] === undefined && !["password", "file"].includes(target.type);
  return (target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement) && target.name !== "";
}

function inputOf(control: Control): string {
  if (control instanceof HTMLInputElement && control.type === "checkbox") return control.checked ? "on" : "";
  return control.value;
}
