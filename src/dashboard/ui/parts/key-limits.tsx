// The fields for the limits of a key, of a new one and of one that there is.

import type { KeyView } from "../../contract.ts";
import type { KeyLimitForm } from "../../contract-limits.ts";
import { profile } from "../session.ts";
import { Choice, Field, type Form } from "./form.tsx";

const PERIODS = [
  ["", "in all"],
  ["1", "a day"],
  ["7", "a week"],
  ["30", "every 30 days"],
] as const;

const shown = (value: number | null | undefined) => (value == null ? undefined : String(value));

/** The fields; `of`: their current values. */
export function KeyLimitFields({ form, of }: { form: Form; of?: KeyView }) {
  return (
    <>
      <Rates form={form} of={of} />
      <Budget form={form} of={of} />
      <Field
        form={form}
        name="models"
        label="Models it may use"
        value={of?.models?.join(" ")}
        placeholder="All of your plan"
        hint="Ids or patterns, such as gpt-* openai/*"
      />
      <Field
        form={form}
        name="addresses"
        label="Addresses"
        value={of?.addresses?.join(" ")}
        placeholder="Any"
        hint="From which it may be used, such as 10.0.0.0/8"
      />
      <Runs form={form} of={of} />
    </>
  );
}

interface Part {
  readonly form: Form;
  readonly of: KeyView | undefined;
}

/** How much at once; the plan's limits are the highest that a member sets. */
function Rates({ form, of }: Part) {
  const {
    admin = false,
    tier_rpm: rpm = 0,
    tier_tpm: tpm = null,
    tier_parallel: parallel = null,
  } = profile.value ?? {};
  const rates = [
    { name: "rpm", label: "Requests a minute", most: rpm, hint: "Empty: your plan's limit." },
    { name: "tpm", label: "Tokens a minute", most: tpm },
    { name: "parallel", label: "Requests at once", most: parallel },
  ] as const;
  return (
    <>
      {rates.map(({ name, label, most, ...more }) => (
        <Field
          key={name}
          {...{ form, name, label, type: "number", min: 1, value: shown(of?.[name]), ...more }}
          {...(admin || most === null ? {} : { max: Math.max(most, of?.[name] ?? 0) })}
          placeholder={most === null ? "No limit" : String(most)}
        />
      ))}
    </>
  );
}

function Budget({ form, of }: Part) {
  const period = of?.budget_period_days == null ? "" : String(of.budget_period_days);
  const known = PERIODS.some(([days]) => days === period);
  return (
    <>
      <Field
        form={form}
        name="budget_usd"
        label="Budget in USD"
        type="number"
        min={0}
        step="0.01"
        value={shown(of?.budget_usd)}
        placeholder="No limit"
      />
      <Choice
        name="budget_period_days"
        label="Budget for"
        options={known ? PERIODS : [...PERIODS, [period, `every ${period} days`]]}
        value={period}
      />
    </>
  );
}

/** The limits of one agent run. An error names a field as the API does. */
function Runs({ form, of }: Part) {
  const runs = [
    { name: "usd", label: "USD a run", min: 0, step: "any", hint: "Of one agent run." },
    { name: "requests", label: "Requests a run", min: 1 },
    { name: "repeats", label: "Equal calls a run", min: 1, hint: "Of one tool, in a row." },
  ] as const;
  return (
    <>
      {runs.map(({ name, ...more }) => (
        <Field
          key={name}
          {...{ form, name: `runs.${name}`, type: "number", value: shown(of?.runs[name]), ...more }}
          placeholder="Your plan's limit"
        />
      ))}
    </>
  );
}

/** What was entered, as the API takes it. */
export function limitsForm(values: Readonly<Record<string, string>>) {
  const number = (name: string) => ((values[name] ?? "") === "" ? undefined : Number(values[name]));
  const list = (name: string) => {
    const words = (values[name] ?? "").split(/[\s,]+/).filter((one) => one !== "");
    return words.length === 0 ? undefined : words;
  };
  const budget = number("budget_usd");
  const rates = { rpm: number("rpm"), tpm: number("tpm"), parallel: number("parallel") };
  const runs = { usd: number("runs.usd"), requests: number("runs.requests"), repeats: number("runs.repeats") };
  const limits: KeyLimitForm = { ...rates, addresses: list("addresses"), runs };
  return {
    ...limits,
    budget_usd: budget,
    budget_period_days: budget === undefined ? undefined : number("budget_period_days"),
    models: list("models"),
  };
}
