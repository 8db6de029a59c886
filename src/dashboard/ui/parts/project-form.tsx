// The form of a project's name and limits, for a new one and for one that there is.

import type { ProjectRow } from "../../contract-projects.ts";
import { Field, Submit, useForm } from "./form.tsx";

/** Sends what was entered; an empty field takes the limit away. */
export function ProjectForm(props: {
  name: string;
  action: string;
  of?: ProjectRow;
  send: (body: Readonly<Record<string, unknown>>) => Promise<void>;
}) {
  const { of: project, send } = props;
  const form = useForm((values) => send(bodyOf(values)), {
    ...{ name: props.name, required: { name: "The name" }, opened: true },
  });
  const text = (value: number | string | null | undefined) => (value == null ? undefined : String(value));
  return (
    <form class="card" onSubmit={form.onSubmit} ref={form.ref} noValidate>
      <Field form={form} name="name" label="Name" value={project?.name} maxLength={100} />
      <div class="row">
        <Field
          form={form}
          name="budget"
          label="Budget (US dollars)"
          inputMode="decimal"
          value={text(project?.budget)}
        />
        <Field
          {...{ form, name: "budget_period", label: "Renews after", placeholder: "30d" }}
          value={text(project?.budget_period)}
        />
      </div>
      <div class="row">
        <Field form={form} name="rpm" label="Requests a minute" inputMode="numeric" value={text(project?.rpm)} />
        <Field form={form} name="tpm" label="Tokens a minute" inputMode="numeric" value={text(project?.tpm)} />
        <Field
          form={form}
          name="parallel"
          label="Requests at once"
          inputMode="numeric"
          value={text(project?.parallel)}
        />
      </div>
      <Field
        {...{
          form,
          name: "models",
          label: "Models",
          hint: "Ids or patterns such as gpt-*, separated by commas; empty: all",
        }}
        value={project?.models?.join(", ")}
      />
      <p class="hint">Limits are of all keys of the project together. An empty field means no limit.</p>
      <Submit form={form}>{props.action}</Submit>
    </form>
  );
}

function bodyOf(values: Readonly<Record<string, string>>): Record<string, unknown> {
  const text = (name: string) => (values[name] ?? "").trim();
  // What is no number is sent as it is, so that the answer names the field.
  const number = (name: string) =>
    text(name) === "" ? null : Number.isNaN(Number(text(name))) ? text(name) : Number(text(name));
  const models = text("models")
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
  const budget = number("budget");
  return {
    ...{ name: text("name"), budget, rpm: number("rpm"), tpm: number("tpm"), parallel: number("parallel") },
    budget_period: text("budget_period") === "" ? null : text("budget_period"),
    models: models.length === 0 ? null : models,
  };
}
