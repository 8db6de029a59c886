// Forms. An error that names a field is shown below that field, which receives the focus. Any other error is shown
// above the button and announced by screen readers.

import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useCallback, useId, useRef } from "preact/hooks";
import { Refused } from "../api.ts";
import { forget } from "../kept.ts";
import { FailureCodes } from "./failure-codes.tsx";
import { useArrival } from "./focus.ts";
import { useKeptForm } from "./kept-form.ts";
import { Notice } from "./notice.tsx";

/** The state of a form, from `useForm`. */
export interface Form {
  readonly busy: Signal<boolean>;
  /** Field name → error text; the name "" stands for the form as a whole. */
  readonly problems: Signal<Readonly<Record<string, string>>>;
  /** The error of the last attempt, for its code and request id. */
  readonly failure: Signal<unknown>;
  /** The `ref` of the form element. */
  readonly ref: (element: HTMLFormElement | null) => void;
  onSubmit(event: SubmitEvent): void;
}

interface FormOptions {
  /** The name under which the input is stored until it was sent. */
  readonly name: string;
  /** The names of required fields, with their labels for error texts. */
  readonly required?: Readonly<Record<string, string>>;
  /** The form shows the same input after it was sent. */
  readonly stays?: boolean;
  /** The form was opened by an action, so it receives the focus. */
  readonly opened?: boolean;
}

/** A form that calls `run` with its values. `run` throws `Refused` with the field that is wrong. */
export function useForm(
  run: (values: Readonly<Record<string, string>>) => Promise<void>,
  { name, required = {}, stays = false, opened = false }: FormOptions,
): Form {
  const busy = useSignal(false);
  const problems = useSignal<Readonly<Record<string, string>>>({});
  const failure = useSignal<unknown>(undefined);
  const latest = useRef(run);
  latest.current = run;
  const keep = useKeptForm(name, busy);
  const arrive = useArrival();
  const ref = useCallback(
    (element: HTMLFormElement | null) => {
      keep(element);
      if (opened) arrive(element);
    },
    [keep, arrive, opened],
  );

  const show = (form: HTMLFormElement, found: Readonly<Record<string, string>>) => {
    const named = Object.keys(found).find((name) => name !== "" && form.elements.namedItem(name) !== null);
    // An error of a field that is not on the page is shown for the form as a whole.
    problems.value = named === undefined ? { "": Object.values(found).join(" ") } : found;
    const field = named === undefined ? null : form.elements.namedItem(named);
    if (field instanceof HTMLElement) field.focus();
  };

  return {
    busy,
    problems,
    failure,
    ref,
    onSubmit(event) {
      event.preventDefault();
      const form = event.currentTarget;
      if (busy.value || !(form instanceof HTMLFormElement)) return;
      failure.value = undefined;
      const values: Record<string, string> = {};
      for (const [name, value] of new FormData(form)) if (typeof value === "string") values[name] = value;
      const missing = Object.entries(required).filter(([name]) => (values[name] ?? "").trim() === "");
      if (missing.length > 0) {
        show(form, Object.fromEntries(missing.map(([name, label]) => [name, `${label} is missing.`])));
        return;
      }
      busy.value = true;
      problems.value = {};
      latest
        .current(values)
        .then(() => {
          if (!stays) forget(name);
        })
        .catch((error: unknown) => {
          failure.value = error;
          const param = error instanceof Refused ? (error.param ?? "") : "";
          show(form, { [param]: error instanceof Error ? error.message : String(error) });
        })
        .finally(() => {
          busy.value = false;
        });
    },
  };
}

interface FieldProps {
  form: Form;
  name: string;
  label: string;
  type?: "text" | "email" | "password" | "number" | "date";
  hint?: string | undefined;
  value?: string | undefined;
  autoComplete?: string;
  inputMode?: "numeric" | "decimal";
  min?: number;
  max?: number;
  step?: string;
  placeholder?: string;
  /** Id of a datalist with suggestions. */
  list?: string;
  maxLength?: number;
  autoFocus?: boolean;
}

/** A labelled input with its hint and its error. */
export function Field({ form, name, label, hint, type = "text", value, list, autoFocus, ...rest }: FieldProps) {
  const id = useId();
  const shown = useSignal(false);
  const problem = form.problems.value[name];
  const secret = type === "password";
  const described = [hint === undefined ? "" : `${id}-hint`, problem === undefined ? "" : `${id}-problem`];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class={secret ? "with-button" : undefined}>
        <input
          id={id}
          name={name}
          data-secret={secret ? "" : undefined}
          {...({ type: secret && shown.value ? "text" : type, list } as object)}
          defaultValue={value}
          aria-invalid={problem === undefined ? undefined : "true"}
          aria-describedby={described.join(" ").trim() || undefined}
          spellcheck={false}
          autocapitalize="none"
          ref={autoFocus ? focusOnce : null}
          {...rest}
        />
        {secret && (
          <button type="button" class="quiet" onClick={() => (shown.value = !shown.value)}>
            {shown.value ? "Hide" : "Show"}
          </button>
        )}
      </div>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** A labelled checkbox. Its value is "on", or missing if it is not checked. */
export function Switch({ name, label }: { name: string; label: string }) {
  return (
    <label class="switch">
      <input type="checkbox" name={name} /> {label}
    </label>
  );
}

/** A labelled select box. */
export function Choice(props: {
  name: string;
  label: string;
  options: readonly (readonly [value: string, text: string])[];
  /** The initial choice; if missing, the first option. */
  value?: string;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <select id={id} name={props.name}>
        {props.options.map(([value, text]) => (
          <option key={value} value={value} selected={value === props.value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The submit button. The error of the form as a whole is shown above it. */
export function Submit({ form, danger, children }: { form: Form; danger?: boolean; children: ComponentChildren }) {
  const problem = form.problems.value[""];
  return (
    <>
      {problem !== undefined && (
        <Notice kind="danger">
          {problem}
          <FailureCodes error={form.failure.value} />
        </Notice>
      )}
      <button type="submit" class={danger ? "danger" : "primary"} aria-busy={form.busy.value}>
        {children}
      </button>
    </>
  );
}

function focusOnce(element: HTMLInputElement | null): void {
  if (element !== null && element.dataset["focused"] === undefined) {
    element.dataset["focused"] = "";
    element.focus();
  }
}
