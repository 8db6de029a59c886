// The form of a web tool, built from the list of its fields.

import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { filledLines, type ToolField, type ToolValues, type WebTool } from "./tools.ts";

interface FieldProps {
  field: ToolField;
  value: string;
  problem: string | undefined;
  change: (value: string) => void;
}

/** The form. Rarely used fields are below "Options". */
export function ToolForm(props: {
  tool: WebTool;
  values: ToolValues;
  problem: { readonly field: string; readonly message: string } | undefined;
  change: (name: string, value: string) => void;
  submit: () => void;
  isOpen: Signal<boolean>;
  children: ComponentChildren;
}) {
  const { tool, values, problem, change, submit, isOpen, children } = props;
  const shown = (field: ToolField) => (
    <Field
      key={`${tool.slug}-${field.name}`}
      field={field}
      value={values[field.name] ?? field.initial ?? ""}
      problem={problem?.field === field.name ? problem.message : undefined}
      change={(value) => change(field.name, value)}
    />
  );
  const options = tool.fields.filter(({ main }) => !main);
  return (
    <form
      class="card"
      noValidate
      aria-label={tool.name}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {tool.fields.filter(({ main }) => main).map(shown)}
      <details open={isOpen.value} onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
        <summary>Options</summary>
        <div class="page">
          <div class="grid">{options.filter((field) => !isTicked(field)).map(shown)}</div>
          <div class="ticks">{options.filter(isTicked).map(shown)}</div>
        </div>
      </details>
      {children}
    </form>
  );
}

const isTicked = ({ kind }: ToolField) => kind === "switch" || kind === "choices";

/** Whether any option of a tool differs from its default. */
export function hasOptions({ fields }: WebTool, values: ToolValues): boolean {
  return fields.some(({ name, main, initial = "" }) => !main && (values[name] ?? initial) !== initial);
}

function Field(props: FieldProps) {
  const { field, problem } = props;
  const id = `tool-${field.name}`;
  if (field.kind === "switch") return <Switch {...props} />;
  if (field.kind === "choices") return <Choices {...props} />;
  return (
    <div class={field.kind === "json" ? "field wide" : "field"}>
      <label for={id}>{field.label}</label>
      <Input {...props} id={id} />
      {field.hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {field.hint}
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

/** The number of rows of fields that have several. */
const ROWS: Readonly<Record<string, number>> = { words: 3, lines: 2, json: 6 };

function Input({ field, value, problem, change, id }: FieldProps & { id: string }) {
  const { name, kind, placeholder, hint, choices = [], min, max } = field;
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(" ") || undefined;
  const common = {
    id,
    name,
    value,
    "aria-describedby": described,
    "aria-invalid": problem === undefined ? undefined : ("true" as const),
  };
  if (kind === "choice")
    return (
      <select {...common} onChange={(event) => change(event.currentTarget.value)}>
        {choices.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    );
  const typed = { ...common, placeholder, spellcheck: kind === "words" };
  const rows = ROWS[kind];
  if (rows !== undefined)
    return (
      <textarea
        {...typed}
        rows={rows}
        class={kind === "json" ? "mono" : undefined}
        onInput={(event) => change(event.currentTarget.value)}
      />
    );
  return (
    <input
      {...typed}
      {...({ type: kind === "number" ? "number" : "text" } as object)}
      min={min}
      max={max}
      inputMode={kind === "url" ? "url" : undefined}
      autocapitalize="none"
      autoComplete="off"
      onInput={(event) => change(event.currentTarget.value)}
    />
  );
}

function Switch({ field, value, change }: FieldProps) {
  return (
    <label class="switch">
      <input
        type="checkbox"
        name={field.name}
        checked={value === "true"}
        onChange={(event) => change(String(event.currentTarget.checked))}
      />
      {field.label}
    </label>
  );
}

function Choices({ field, value, change }: FieldProps) {
  const chosen = filledLines(value);
  const { choices = [] } = field;
  const toggle = (one: string, on: boolean) =>
    change(choices.filter((other) => (other === one ? on : chosen.includes(other))).join("\n"));
  return (
    <fieldset class="choices">
      <legend>{field.label}</legend>
      {choices.map((one) => (
        <label class="switch" key={one}>
          <input
            type="checkbox"
            checked={chosen.includes(one)}
            onChange={(event) => toggle(one, event.currentTarget.checked)}
          />
          {one}
        </label>
      ))}
    </fieldset>
  );
}
