// The forms for a key: create one, change it, rotate its secret. A secret is shown once.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { CreatedKey, KeyView, NewKeyForm } from "../../contract.ts";
import type { RotatedKey } from "../../contract-keys.ts";
import { call } from "../api.ts";
import { Examples } from "../parts/examples.tsx";
import { Choice, Field, Submit, Switch, useForm } from "../parts/form.tsx";
import { KeyLimitFields, limitsForm } from "../parts/key-limits.tsx";
import { Notice, say } from "../parts/notice.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { hrefOf } from "../router.ts";
import { freshKey, profile } from "../session.ts";

const DAY_MS = 86_400_000;
const EXPIRIES = [
  ["", "Never"],
  ["7", "In 7 days"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
] as const;

/** Creates a key, and shows it once. */
export function CreateKey({ made, keys }: { made: () => Promise<void>; keys: readonly KeyView[] }) {
  const shown = useSignal<{ id: string; name: string; key: string; unpriced: readonly string[] } | undefined>(
    undefined,
  );
  const wasMade = useSignal(false);
  const form = useForm(
    async (values) => {
      const { name = "" } = values;
      const { id, key, unpriced } = await call<CreatedKey>("POST", "/keys", newKeyForm(values));
      shown.value = { id, name, key, unpriced };
      wasMade.value = true;
      freshKey.value = key;
      await made();
    },
    // After "Done" the form for the next key takes the place of the button.
    { name: "key-new", required: { name: "Name" }, opened: wasMade.value },
  );
  if (shown.value !== undefined) {
    const { id, name, key, unpriced } = shown.value;
    const isUsed = keys.some((one) => one.id === id && one.last_used_at !== null);
    return (
      <MadeKey name={name} secret={key} unpriced={unpriced} done={() => (shown.value = undefined)}>
        <FirstRequest isUsed={isUsed} look={made} />
      </MadeKey>
    );
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
          <KeyLimitFields form={form} />
          <Choice name="expires" label="Expires" options={EXPIRIES} />
        </div>
        <Switch name="no_store" label="Do not store the content of its requests" />
        {profile.value?.admin && <Switch name="passthrough" label="May call every path of a provider" />}
      </details>
    </form>
  );
}

const LOOK_MS = 2000;

/** Examples with the new key, and whether a request with it has arrived. */
function FirstRequest({ isUsed, look }: { isUsed: boolean; look: () => Promise<void> }) {
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    if (isUsed) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void latest.current();
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [isUsed]);
  return (
    <>
      <Examples />
      {isUsed ? (
        <Notice kind="ok">
          The first request with this key has arrived. See it in the <a href={hrefOf("/log")}>request log</a>.
        </Notice>
      ) : (
        <Notice>Waiting for the first request with this key…</Notice>
      )}
    </>
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
    { name: editForm(of), required: { name: "Name" }, opened: true },
  );
  return (
    <form class="card" ref={form.ref} onSubmit={form.onSubmit} noValidate aria-label={`Edit ${of.name}`}>
      <h2>Edit {of.name}</h2>
      <div class="grid">
        <Field form={form} name="name" label="Name" value={of.name} maxLength={100} autoComplete="off" />
        <KeyLimitFields form={form} of={of} />
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
    { name: `rotate-${of.id}`, opened: true },
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
      <p>The key gets a new secret. Its name, limits, budget and statistics stay.</p>
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
    <ShownOnce
      label="The new key"
      secret={secret}
      what="the key"
      testId="new-key"
      notice={
        <>
          This is the key <b>{name}</b>. Copy it now: it is not shown again.
        </>
      }
      warning={unpriced.length > 0 ? `The budget does not cover ${unpricedText(unpriced)}.` : undefined}
    >
      {children}
      <button type="button" onClick={done}>
        Done
      </button>
    </ShownOnce>
  );
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
