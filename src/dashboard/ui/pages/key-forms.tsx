// The forms for a key: create one, change it, rotate its secret. A secret is shown once.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { CreatedKey, KeyView, NewKeyForm, RotatedKey } from "../../contract.ts";
import { call } from "../api.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Choice, Field, type Form, Submit, Switch, useForm } from "../parts/form.tsx";
import { Notice, say } from "../parts/notice.tsx";
import { freshKey, profile } from "../session.ts";

const DAY_MS = 86_400_000;
const EXPIRIES = [
  ["", "Never"],
  ["7", "In 7 days"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
] as const;
const PERIODS = [
  ["", "in all"],
  ["1", "a day"],
  ["7", "a week"],
  ["30", "every 30 days"],
] as const;

/** Creates a key, and shows it once. */
export function CreateKey({ made }: { made: () => Promise<void> }) {
  const shown = useSignal<{ name: string; key: string; unpriced: readonly string[] } | undefined>(undefined);
  const form = useForm(
    async (values) => {
      const { name = "" } = values;
      const { key, unpriced } = await call<CreatedKey>("POST", "/keys", newKeyForm(values));
      shown.value = { name, key, unpriced };
      freshKey.value = key;
      await made();
    },
    { name: "key-new", required: { name: "Name" } },
  );
  if (shown.value !== undefined) {
    const { name, key, unpriced } = shown.value;
    return <MadeKey name={name} secret={key} unpriced={unpriced} done={() => (shown.value = undefined)} />;
  }
  return (
    <form class="card" ref={form.ref} onSubmit={form.onSubmit} noValidate aria-label="New key">
      <div class="inline">
        <Field form={form} name="name" label="Name" placeholder="What is it for?" maxLength={100} autoComplete="off" />
        <Submit form={form}>Create key</Submit>
      </div>
      <details>
        <summary>Limits</summary>
        <div class="grid">
          <Limits form={form} />
          <Choice name="expires" label="Expires" options={EXPIRIES} />
        </div>
        <Switch name="no_store" label="Do not store the content of its requests" />
        {profile.value?.admin && <Switch name="passthrough" label="May call every path of a provider" />}
      </details>
    </form>
  );
}

/** The name of the stored input of the form that changes a key. */
export function editForm({ id }: Pick<KeyView, "id">): string {
  return `key-${id}`;
}

/** Changes a key; its secret stays. */
export function EditKey({ of, done }: { of: KeyView; done: () => Promise<void> }) {
  const until = of.expires_at?.slice(0, 10) ?? "";
  const form = useForm(
    async (values) => {
      const { name = "", expires_at: day = "" } = values;
      // A date that was not changed keeps its time of day.
      const at = day === until ? of.expires_at : `${day}T23:59:59Z`;
      const wanted: NewKeyForm = {
        name,
        ...limitsForm(values),
        ...(day === "" || at === null ? {} : { expires_at: at }),
      };
      await call("POST", `/keys/${of.id}`, wanted);
      say(`The key ${name} is changed.`);
      await done();
    },
    { name: editForm(of), required: { name: "Name" } },
  );
  return (
    <form class="card" ref={form.ref} onSubmit={form.onSubmit} noValidate aria-label={`Edit ${of.name}`}>
      <h2>Edit {of.name}</h2>
      <div class="grid">
        <Field form={form} name="name" label="Name" value={of.name} maxLength={100} autoComplete="off" autoFocus />
        <Limits form={form} of={of} />
        <Field form={form} name="expires_at" label="Expires (UTC)" type="date" value={until} hint="Empty: never." />
      </div>
      <div class="row">
        <Submit form={form}>Save</Submit>
        <button type="button" onClick={() => void done()}>
          Cancel
        </button>
      </div>
    </form>
  );
}

const OVERLAPS = [
  ["24", "24 hours"],
  ["1", "1 hour"],
  ["168", "7 days"],
  ["0", "Not at all"],
] as const;

/** Rotates the secret of a key; the old one works for a while. */
export function RotateKey(props: { of: KeyView; changed: () => Promise<void>; done: () => Promise<void> }) {
  const { of, changed, done } = props;
  const made = useSignal<RotatedKey | undefined>(undefined);
  const form = useForm(
    async ({ overlap = "0" }) => {
      made.value = await call<RotatedKey>("POST", `/keys/${of.id}/rotate`, { grace_hours: Number(overlap) });
      freshKey.value = made.value.key;
      await changed();
    },
    { name: `rotate-${of.id}` },
  );
  if (made.value !== undefined) {
    const { name, key, old_until: until } = made.value;
    return (
      <MadeKey name={name} secret={key} unpriced={[]} done={() => void done()}>
        {Date.parse(until) > Date.now() && (
          <p>
            The old key <code>{of.key}</code> works until {new Date(until).toLocaleString()}. Replace it in your
            programs by then.
          </p>
        )}
      </MadeKey>
    );
  }
  return (
    <form class="card" ref={form.ref} onSubmit={form.onSubmit} noValidate aria-label={`Rotate ${of.name}`}>
      <h2>Rotate {of.name}</h2>
      <p>
        You get a new key with the same name and limits.
        {of.budget_usd !== null && " While both work, each has what is left of the budget."}
      </p>
      <div class="inline">
        <Choice name="overlap" label="The old key still works for" options={OVERLAPS} />
        <Submit form={form}>Rotate key</Submit>
        <button type="button" class="beside" onClick={() => void done()}>
          Cancel
        </button>
      </div>
    </form>
  );
}

function MadeKey(props: {
  name: string;
  secret: string;
  unpriced: readonly string[];
  done: () => void;
  children?: ComponentChildren;
}) {
  const { name, secret, unpriced, done, children } = props;
  return (
    <section class="card made" aria-label="The new key">
      <Notice kind="ok">
        This is the key <b>{name}</b>. Copy it now: it is not shown again.
      </Notice>
      {unpriced.length > 0 && <Notice kind="warn">The budget does not cover {unpricedText(unpriced)}.</Notice>}
      <div class="secret">
        <code data-testid="new-key">{secret}</code>
        <CopyButton text={secret} what="the key" />
      </div>
      {children}
      <button type="button" onClick={done}>
        Done
      </button>
    </section>
  );
}

/** The fields for the permissions of a key; `of`: their current values. */
function Limits({ form, of }: { form: Form; of?: KeyView }) {
  const rpm = profile.value?.tier_rpm ?? 0;
  const period = of?.budget_period_days == null ? "" : String(of.budget_period_days);
  const known = PERIODS.some(([days]) => days === period);
  return (
    <>
      <Field
        form={form}
        name="rpm"
        label="Requests a minute"
        type="number"
        min={1}
        {...(profile.value?.admin ? {} : { max: Math.max(rpm, of?.rpm ?? 0) })}
        value={of?.rpm == null ? undefined : String(of.rpm)}
        placeholder={String(rpm)}
        hint="Empty: your plan's limit."
      />
      <Field
        form={form}
        name="budget_usd"
        label="Budget in USD"
        type="number"
        min={0}
        step="0.01"
        value={of?.budget_usd == null ? undefined : String(of.budget_usd)}
        placeholder="No limit"
      />
      <Choice
        name="budget_period_days"
        label="Budget for"
        options={known ? PERIODS : [...PERIODS, [period, `every ${period} days`]]}
        value={period}
      />
      <Field
        form={form}
        name="models"
        label="Models it may use"
        value={of?.models?.join(" ")}
        placeholder="All of your plan"
        hint="Ids or patterns, such as gpt-* openai/*"
      />
    </>
  );
}

function limitsForm(values: Readonly<Record<string, string>>) {
  const { rpm = "", models = "", budget_usd: budget = "", budget_period_days: period = "" } = values;
  return {
    ...(rpm === "" ? {} : { rpm: Number(rpm) }),
    ...(budget === "" ? {} : { budget_usd: Number(budget) }),
    ...(budget === "" || period === "" ? {} : { budget_period_days: Number(period) }),
    ...(models.trim() === "" ? {} : { models: models.split(/[\s,]+/).filter((pattern) => pattern !== "") }),
  };
}

function newKeyForm(values: Readonly<Record<string, string>>): NewKeyForm {
  const { name = "", expires = "" } = values;
  return {
    name,
    ...limitsForm(values),
    ...(expires === "" ? {} : { expires_at: new Date(Date.now() + Number(expires) * DAY_MS).toISOString() }),
    ...(values["no_store"] === undefined ? {} : { no_store: true }),
    ...(values["passthrough"] === undefined ? {} : { passthrough: true }),
  };
}

/** The number of names that a sentence lists. */
const UNPRICED_NAMED = 3;

/** The models that no budget can count, with the names of some. */
export function unpricedText(ids: readonly string[]): string {
  const more = ids.length - UNPRICED_NAMED;
  const named = ids.slice(0, UNPRICED_NAMED).join(", ");
  return `${named}${more > 0 ? ` and ${more} more` : ""} (no price is known)`;
}
