// API keys: make one (it is shown once), see what is there, revoke.

import { useSignal } from "@preact/signals";
import type { CreatedKey, KeyView, Listing, NewKeyForm } from "../../contract.ts";
import { call } from "../api.ts";
import { useLoad } from "../load.ts";
import { periodText } from "../parts/budget.tsx";
import { confirmed } from "../parts/confirm.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { Choice, Field, Submit, Switch, useForm } from "../parts/form.tsx";
import { Badge, Empty, Notice, say } from "../parts/notice.tsx";
import { exactTime, usd, When } from "../parts/time.tsx";
import { Title } from "../parts/title.tsx";
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

/** The page. */
export function KeysPage() {
  const keys = useLoad<Listing<KeyView>>("/keys");
  const list = keys.value.value?.data;
  const live = list?.filter((key) => key.revoked_at === null) ?? [];
  const revoked = list?.filter((key) => key.revoked_at !== null) ?? [];
  const showRevoked = useSignal(false);
  return (
    <>
      <Title>Keys</Title>
      <CreateKey made={keys.reload} />
      {keys.problem.value !== undefined && <Notice kind="danger">{keys.problem.value}</Notice>}
      {list !== undefined && live.length === 0 && <Empty>You have no keys. A program needs one to use the API.</Empty>}
      {live.length > 0 && (
        <KeyTable keys={live} revoke={(key) => revokeKey(key, { path: "/keys", changed: keys.reload })} />
      )}
      {revoked.length > 0 && (
        <details onToggle={(event) => (showRevoked.value = event.currentTarget.open)}>
          <summary>Revoked keys ({revoked.length})</summary>
          {showRevoked.value && <KeyTable keys={revoked} revoke={async () => undefined} />}
        </details>
      )}
    </>
  );
}

function CreateKey({ made }: { made: () => Promise<void> }) {
  const shown = useSignal<{ name: string; key: string; unpriced: readonly string[] } | undefined>(undefined);
  const form = useForm(
    async (values) => {
      const { name = "" } = values;
      const { key, unpriced } = await call<CreatedKey>("POST", "/keys", newKeyForm(values));
      shown.value = { name, key, unpriced };
      freshKey.value = key;
      await made();
    },
    { name: "Name" },
  );
  if (shown.value !== undefined) {
    const { name, key, unpriced } = shown.value;
    return (
      <section class="card made" aria-label="The new key">
        <Notice kind="ok">
          This is the key <b>{name}</b>. Copy it now: it is not shown again.
        </Notice>
        {unpriced.length > 0 && <Notice kind="warn">The budget does not cover {unpricedText(unpriced)}.</Notice>}
        <div class="secret">
          <code data-testid="new-key">{key}</code>
          <CopyButton text={key} what="the key" />
        </div>
        <button type="button" onClick={() => (shown.value = undefined)}>
          Done
        </button>
      </section>
    );
  }
  const rpm = profile.value?.tier_rpm ?? 0;
  return (
    <form class="card" onSubmit={form.onSubmit} noValidate aria-label="New key">
      <div class="inline">
        <Field form={form} name="name" label="Name" placeholder="What is it for?" maxLength={100} autoComplete="off" />
        <Submit form={form}>Create key</Submit>
      </div>
      <details>
        <summary>Limits</summary>
        <div class="grid">
          <Field
            form={form}
            name="rpm"
            label="Requests a minute"
            type="number"
            min={1}
            {...(profile.value?.admin ? {} : { max: rpm })}
            placeholder={String(rpm)}
            hint="Empty: your plan's limit."
          />
          <Choice name="expires" label="Expires" options={EXPIRIES} />
          <Field
            form={form}
            name="budget_usd"
            label="Budget in USD"
            type="number"
            min={0}
            step="0.01"
            placeholder="No limit"
          />
          <Choice name="budget_period_days" label="Budget for" options={PERIODS} />
          <Field
            form={form}
            name="models"
            label="Models it may use"
            placeholder="All of your plan"
            hint="Ids or patterns, such as gpt-* openai/*"
          />
        </div>
        <Switch name="no_store" label="Keep nothing that its requests say" />
        {profile.value?.admin && <Switch name="passthrough" label="May call every path of a provider" />}
      </details>
    </form>
  );
}

function newKeyForm(values: Readonly<Record<string, string>>): NewKeyForm {
  const { name = "", rpm = "", expires = "", models = "" } = values;
  const { budget_usd: budget = "", budget_period_days: period = "" } = values;
  return {
    name,
    ...(rpm === "" ? {} : { rpm: Number(rpm) }),
    ...(expires === "" ? {} : { expires_at: new Date(Date.now() + Number(expires) * DAY_MS).toISOString() }),
    ...(budget === "" ? {} : { budget_usd: Number(budget) }),
    ...(budget === "" || period === "" ? {} : { budget_period_days: Number(period) }),
    ...(models.trim() === "" ? {} : { models: models.split(/[\s,]+/).filter((pattern) => pattern !== "") }),
    ...(values["no_store"] === undefined ? {} : { no_store: true }),
    ...(values["passthrough"] === undefined ? {} : { passthrough: true }),
  };
}

/** Keys, with a button that revokes where `revoke` says how. */
export function KeyTable({ keys, revoke }: { keys: readonly KeyView[]; revoke: (key: KeyView) => Promise<void> }) {
  return (
    <div class="table-card">
      <table class="stacks">
        <thead>
          <tr>
            <th>Name</th>
            <th>Key</th>
            <th>Limits</th>
            <th>Last used</th>
            <th>Made</th>
            <th>
              <span class="off-screen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <th scope="row">
                {key.name} <State of={key} />
              </th>
              <td data-label="Key">
                <code>{key.key}</code>
              </td>
              <td data-label="Limits">
                {limitsOf(key)}
                {key.unpriced.length > 0 && <p class="hint">Not held: {unpricedText(key.unpriced)}.</p>}
              </td>
              <td data-label="Last used">{key.last_used_at === null ? "Never" : <When iso={key.last_used_at} />}</td>
              <td data-label="Made">
                <When iso={key.created_at} />
              </td>
              <td class="actions">
                {key.revoked_at === null && (
                  <button type="button" class="quiet danger" onClick={() => revoke(key)}>
                    Revoke<span class="off-screen"> {key.name}</span>
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function State({ of: key }: { of: KeyView }) {
  if (key.revoked_at !== null) return <Badge>Revoked</Badge>;
  if (key.expires_at === null) return null;
  const over = Date.parse(key.expires_at) <= Date.now();
  return over ? (
    <Badge kind="danger">Expired</Badge>
  ) : (
    <Badge kind="info">
      Expires <When iso={key.expires_at} />
    </Badge>
  );
}

/** More names than these make no sentence better. */
const UNPRICED_NAMED = 3;

function unpricedText(ids: readonly string[]): string {
  const more = ids.length - UNPRICED_NAMED;
  const named = ids.slice(0, UNPRICED_NAMED).join(", ");
  return `${named}${more > 0 ? ` and ${more} more` : ""} (no price is known)`;
}

function limitsOf(key: KeyView): string {
  const limits = key.rpm === null ? [] : [`${key.rpm}/min`];
  if (key.budget_usd !== null) {
    limits.push(`${usd(key.spent_usd ?? 0)} of ${usd(key.budget_usd)}${periodText(key.budget_period_days)}`);
  }
  if (key.models !== null) limits.push(`only ${key.models.join(", ")}`);
  if (key.no_store) limits.push("keeps nothing");
  if (key.debug_until !== null && Date.parse(key.debug_until) > Date.now())
    limits.push(`debugged until ${exactTime(key.debug_until)}`);
  if (key.passthrough) limits.push("every provider path");
  return limits.join(" · ") || "Plan limit";
}

/** Asks, revokes the key below `path`, and says so. */
export async function revokeKey(
  key: KeyView,
  { path, changed }: { path: string; changed: () => Promise<void> },
): Promise<void> {
  const sure = await confirmed({
    title: `Revoke ${key.name}?`,
    text: "Requests with this key will be refused from now on. This cannot be undone.",
    action: "Revoke",
  });
  if (!sure) return;
  try {
    await call("DELETE", `${path}/${key.id}`);
    say(`The key ${key.name} is revoked.`);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), "danger");
  }
  await changed();
}
