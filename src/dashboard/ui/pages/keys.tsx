// API keys: create one (it is shown once), list, change, rotate, revoke.

import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import type { KeyView } from "../../contract.ts";
import type { KeyListing } from "../../contract-keys.ts";
import { call } from "../api.ts";
import { forget, recall } from "../kept.ts";
import { useLoad } from "../load.ts";
import { KeyBudget } from "../parts/budget.tsx";
import { confirmed } from "../parts/confirm.tsx";
import { EndDebug } from "../parts/end-debug.tsx";
import { focusBack } from "../parts/focus.ts";
import { Badge, Empty, Notice, say } from "../parts/notice.tsx";
import { choose as select } from "../parts/span.tsx";
import { Spark } from "../parts/spark.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { exactTime, When } from "../parts/time.tsx";
import { Title } from "../parts/title.tsx";
import { query } from "../router.ts";
import { profile } from "../session.ts";
import { CreateKey, EditKey, editForm, RotateKey, unpricedText } from "./key-forms.tsx";

/** The keys that are shown at first; with more of them there is a search. */
const PAGE = 20;
/** The keys of a page, when more of them were asked for. */
const LONG_PAGE = 100;
const REVOKED_SHOWN = 100;

/** Which keys the query of the page asks for. Without a page in it, the first few are shown. */
function keysAsked() {
  const wanted = query.value;
  const sought = wanted.get("find") ?? "";
  const state = wanted.get("state") ?? "";
  const page = Math.max(0, Number.parseInt(wanted.get("page") ?? "0", 10) || 0);
  const isLong = wanted.has("page");
  const asked = new URLSearchParams({
    ...{ find: sought, order: wanted.get("order") ?? "", state: state === "" ? "kept" : state },
    ...{ limit: String(isLong ? LONG_PAGE : PAGE), skip: String(isLong ? page * LONG_PAGE : 0) },
  });
  return { sought, isFiltered: sought.trim() !== "" || state !== "", isLong, page, asked: asked.toString() };
}

export function KeysPage() {
  const { sought, isFiltered, isLong, page, asked } = keysAsked();
  const keys = useLoad<KeyListing>(`/keys?${asked}`);
  const list = keys.value.value?.data;
  const live = list ?? [];
  const total = keys.value.value?.total ?? 0;
  const gone = useLoad<KeyListing>(`/keys?state=revoked&limit=${REVOKED_SHOWN}`);
  const revoked = gone.value.value?.data ?? [];
  const reload = async () => {
    await Promise.all([keys.reload(), gone.reload()]);
  };
  const showRevoked = useSignal(false);
  const isThere = list !== undefined;
  useEffect(() => {
    // The page was left while a key was being changed.
    const key = live.find((one) => recall(editForm(one)) !== undefined);
    if (key !== undefined) chosen.value = { key, what: "edit" };
  }, [isThere]);
  // The notice above the page ends debugging too.
  const debugged = profile.value?.debugged_keys.length;
  const shown = useRef(debugged);
  useEffect(() => {
    if (shown.current !== debugged) void keys.reload();
    shown.current = debugged;
  }, [debugged]);
  const chosen = useSignal<{ readonly key: KeyView; readonly what: "edit" | "rotate" } | undefined>(undefined);
  const opener = useRef<Element | null>(null);
  const choose = (key: KeyView, what: "edit" | "rotate") => {
    opener.current = document.activeElement;
    chosen.value = { key, what };
  };
  const closeForm = async () => {
    if (chosen.value !== undefined) forget(editForm(chosen.value.key));
    chosen.value = undefined;
    await keys.reload();
    focusBack(opener.current);
  };
  return (
    <>
      <Title>Keys</Title>
      {chosen.value === undefined ? (
        <CreateKey made={reload} keys={live} />
      ) : chosen.value.what === "edit" ? (
        <EditKey key={chosen.value.key.id} of={chosen.value.key} done={closeForm} />
      ) : (
        <RotateKey key={`rotate ${chosen.value.key.id}`} of={chosen.value.key} changed={reload} done={closeForm} />
      )}
      {keys.problem.value !== undefined && <Notice kind="danger">{keys.problem.value}</Notice>}
      {(total > PAGE || isFiltered || isLong) && <FindKey />}
      {list !== undefined && live.length === 0 && <NoKeys sought={sought.trim()} isFiltered={isFiltered} />}
      {live.length > 0 && (
        <KeyTable
          keys={live}
          path="/keys"
          changed={reload}
          revoke={(key) => revokeKey(key, { path: "/keys", changed: reload })}
          choose={choose}
        />
      )}
      {!isLong && total > live.length && live.length > 0 && (
        <div class="row">
          <button type="button" onClick={() => select({ page: "0" })}>
            Show more keys ({total - live.length})
          </button>
        </div>
      )}
      {isLong && (total > LONG_PAGE || page > 0) && <Pages page={page} shown={live.length} total={total} />}
      {revoked.length > 0 && (
        <details onToggle={(event) => (showRevoked.value = event.currentTarget.open)}>
          <summary>Revoked keys ({gone.value.value?.total})</summary>
          {showRevoked.value && (
            <KeyTable keys={revoked} path="/keys" changed={reload} revoke={async () => undefined} />
          )}
        </details>
      )}
    </>
  );
}

function NoKeys({ sought, isFiltered }: { sought: string; isFiltered: boolean }) {
  if (!isFiltered) return <Empty>You have no keys. A program needs one to use the API.</Empty>;
  return <Empty>{sought === "" ? "There is no such key." : `No key has “${sought}” in its name.`}</Empty>;
}

/** Which keys of how many are shown, with buttons for the pages beside them. */
function Pages({ page, shown, total }: { page: number; shown: number; total: number }) {
  const first = page * LONG_PAGE + 1;
  return (
    <nav class="row" aria-label="Pages of keys">
      <button type="button" disabled={page === 0} onClick={() => select({ page: String(page - 1) })}>
        Previous
      </button>
      <span>
        {first.toLocaleString("en")} to {(first + shown - 1).toLocaleString("en")} of {total.toLocaleString("en")}
      </span>
      <button
        type="button"
        disabled={(page + 1) * LONG_PAGE >= total}
        onClick={() => select({ page: String(page + 1) })}
      >
        Next
      </button>
    </nav>
  );
}

const ORDERS = [
  ["", "Newest first"],
  ["name", "Name"],
  ["used", "Last used"],
  ["spent", "Spent most"],
] as const;
const STATES = [
  ["", "All"],
  ["live", "Live"],
  ["disabled", "Disabled"],
  ["expired", "Expired"],
] as const;

/** Begins again with the first page of other keys. */
function selectKeys(changes: Readonly<Record<string, string>>): void {
  select({ ...changes, ...(query.peek().has("page") ? { page: "0" } : {}) });
}

function KeyChoice({ name, label, options }: { name: string; label: string; options: typeof ORDERS | typeof STATES }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={query.value.get(name) ?? ""}
        onChange={(event) => selectKeys({ [name]: event.currentTarget.value })}
      >
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** What is sought is in the query, so that a reload shows the same keys. */
function FindKey() {
  const id = useId();
  return (
    <search class="inline">
      <div class="field">
        <label for={id}>Find a key</label>
        <input
          id={id}
          type="search"
          defaultValue={query.peek().get("find") ?? ""}
          placeholder="Part of its name"
          maxLength={100}
          spellcheck={false}
          autocomplete="off"
          onInput={(event) => selectKeys({ find: event.currentTarget.value })}
        />
      </div>
      <KeyChoice name="state" label="Show" options={STATES} />
      <KeyChoice name="order" label="Sort" options={ORDERS} />
    </search>
  );
}

interface KeyTableProps {
  keys: readonly KeyView[];
  /** The part of the API that they are below. */
  path: string;
  changed: () => Promise<void>;
  revoke: (key: KeyView) => Promise<void>;
  /** Absent for the keys of other accounts. */
  choose?: ((key: KeyView, what: "edit" | "rotate") => void) | undefined;
}

/** Keys, with buttons for their actions. */
export function KeyTable({ keys, path, changed, revoke, choose }: KeyTableProps) {
  const hasSparks = keys.some(({ requests_by_day: days }) => days.length > 0);
  const columns: readonly (Column<KeyView> | false)[] = [
    {
      head: "Name",
      cell: (key) => (
        <>
          {key.name} <State of={key} />
        </>
      ),
    },
    { head: "Key", cell: ({ key }) => <code>{key}</code> },
    {
      head: "Limits",
      cell: (key) => (
        <>
          {limitsOf(key)}
          <KeyBudget of={key} />
          {key.unpriced.length > 0 && <p class="hint">Not held: {unpricedText(key.unpriced)}.</p>}
        </>
      ),
    },
    hasSparks && { head: "7 days", cell: ({ requests_by_day: days }) => <Spark counts={days} /> },
    { head: "Last used", cell: ({ last_used_at: at }) => (at === null ? "Never" : <When iso={at} />) },
    { head: "Created", cell: ({ created_at: at }) => <When iso={at} /> },
    {
      head: "Actions",
      actions: true,
      cell: (key) => <Actions of={key} path={path} changed={changed} revoke={revoke} choose={choose} />,
    },
  ];
  return (
    <Table
      caption="Keys"
      class="keys"
      rows={keys}
      keyOf={({ id }) => id}
      columns={columns.filter((column) => column !== false)}
    />
  );
}

function Actions(props: Omit<KeyTableProps, "keys"> & { of: KeyView }) {
  const { of: key, path, changed, revoke, choose } = props;
  return (
    <>
      {isDebugged(key) && <EndDebug path={`${path}/${key.id}`} name={key.name} changed={changed} />}
      {key.revoked_at === null && choose !== undefined && (
        <>
          <button type="button" class="quiet" onClick={() => choose(key, "edit")}>
            Edit<span class="off-screen"> {key.name}</span>
          </button>
          {!isOver(key) && (
            <button type="button" class="quiet" onClick={() => choose(key, "rotate")}>
              Rotate<span class="off-screen"> {key.name}</span>
            </button>
          )}
        </>
      )}
      {key.revoked_at === null && (
        <button type="button" class="quiet danger" onClick={() => revoke(key)}>
          Revoke<span class="off-screen"> {key.name}</span>
        </button>
      )}
    </>
  );
}

function isOver({ expires_at: at }: KeyView): boolean {
  return at !== null && Date.parse(at) <= Date.now();
}

function isDebugged(key: KeyView): key is KeyView & { debug_until: string } {
  return key.revoked_at === null && key.debug_until !== null && Date.parse(key.debug_until) > Date.now();
}

function State({ of: key }: { of: KeyView }) {
  if (key.revoked_at !== null) return <Badge>Revoked</Badge>;
  if (key.disabled) return <Badge kind="danger">Disabled</Badge>;
  if (key.expires_at === null) return null;
  return isOver(key) ? (
    <Badge kind="danger">Expired</Badge>
  ) : (
    <Badge kind="info">
      Expires <When iso={key.expires_at} />
    </Badge>
  );
}

function limitsOf(key: KeyView): string {
  const limits = key.rpm === null ? [] : [`${key.rpm}/min`];
  if (key.tpm !== null) limits.push(`${key.tpm.toLocaleString("en")} tokens/min`);
  if (key.parallel !== null) limits.push(`${key.parallel} at once`);
  if (key.models !== null) limits.push(`only ${key.models.join(", ")}`);
  if (key.addresses !== null) limits.push(`from ${key.addresses.join(", ")}`);
  if (key.runs.usd !== null) limits.push(`$${key.runs.usd} a run`);
  if (key.runs.requests !== null) limits.push(`${key.runs.requests} requests a run`);
  if (key.runs.repeats !== null) limits.push(`${key.runs.repeats} equal calls a run`);
  if (key.management) limits.push("manages keys");
  if (key.no_store) limits.push("keeps nothing");
  if (isDebugged(key)) limits.push(`debugged until ${exactTime(key.debug_until)}`);
  if (key.passthrough) limits.push("every provider path");
  return limits.join(" · ") || (key.budget_usd === null ? "Plan limit" : "");
}

/** Asks for confirmation, revokes the key below `path`, and reports it. */
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
