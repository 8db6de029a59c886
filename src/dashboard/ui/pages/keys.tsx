// API keys: create one (it is shown once), list, change, rotate, revoke.

import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import type { KeyView, Listing } from "../../contract.ts";
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
const MORE = 100;

export function KeysPage() {
  const keys = useLoad<Listing<KeyView>>("/keys");
  const list = keys.value.value?.data;
  const live = list?.filter((key) => key.revoked_at === null) ?? [];
  const revoked = list?.filter((key) => key.revoked_at !== null) ?? [];
  const most = useSignal(PAGE);
  const sought = query.value.get("find") ?? "";
  const found = live.filter((key) => hasText(key, sought.trim().toLowerCase()));
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
        <CreateKey made={keys.reload} keys={live} />
      ) : chosen.value.what === "edit" ? (
        <EditKey key={chosen.value.key.id} of={chosen.value.key} done={closeForm} />
      ) : (
        <RotateKey key={`rotate ${chosen.value.key.id}`} of={chosen.value.key} changed={keys.reload} done={closeForm} />
      )}
      {keys.problem.value !== undefined && <Notice kind="danger">{keys.problem.value}</Notice>}
      {list !== undefined && live.length === 0 && <Empty>You have no keys. A program needs one to use the API.</Empty>}
      {live.length > PAGE && <FindKey />}
      {live.length > 0 && found.length === 0 && <Empty>No key has “{sought}” in its name.</Empty>}
      {found.length > 0 && (
        <KeyTable
          keys={found.slice(0, most.value)}
          path="/keys"
          changed={keys.reload}
          revoke={(key) => revokeKey(key, { path: "/keys", changed: keys.reload })}
          choose={choose}
        />
      )}
      {found.length > most.value && (
        <div class="row">
          <button type="button" onClick={() => (most.value += MORE)}>
            Show more keys ({found.length - most.value})
          </button>
        </div>
      )}
      {revoked.length > 0 && (
        <details onToggle={(event) => (showRevoked.value = event.currentTarget.open)}>
          <summary>Revoked keys ({revoked.length})</summary>
          {showRevoked.value && (
            <KeyTable keys={revoked} path="/keys" changed={keys.reload} revoke={async () => undefined} />
          )}
        </details>
      )}
    </>
  );
}

function hasText({ name, key }: KeyView, text: string): boolean {
  return name.toLowerCase().includes(text) || key.toLowerCase().includes(text);
}

/** What is sought is in the query, so that a reload shows the same keys. */
function FindKey() {
  const id = useId();
  return (
    <search class="field">
      <label for={id}>Find a key</label>
      <input
        id={id}
        type="search"
        defaultValue={query.peek().get("find") ?? ""}
        placeholder="Part of its name"
        maxLength={100}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => select({ find: event.currentTarget.value })}
      />
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
