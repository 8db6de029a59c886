// The audit log of all accounts, newest first, filtered by account and by kind. The filters are in the query.

import { useSignal } from "@preact/signals";
import type { Listing } from "../../../contract.ts";
import type { AuditView } from "../../../contract-admin.ts";
import { call } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { EVENTS } from "../../parts/events.ts";
import { Choice, Field, Submit, useForm } from "../../parts/form.tsx";
import { Notice, say } from "../../parts/notice.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { When } from "../../parts/time.tsx";
import { Title } from "../../parts/title.tsx";
import { hrefOf, navigate, query } from "../../router.ts";

const PER_PAGE = 50;

export function AuditPage() {
  const account = query.value.get("account") ?? "";
  const event = query.value.get("event") ?? "";
  const form = useForm(
    async (wanted) => {
      const chosen = Object.entries(wanted).filter(([, value]) => value.trim() !== "");
      navigate(`/admin/audit?${new URLSearchParams(chosen)}`);
    },
    { name: "audit" },
  );
  return (
    <>
      <Title>Audit log</Title>
      <form
        class="card"
        ref={form.ref}
        onSubmit={form.onSubmit}
        noValidate
        aria-label="Filter"
        key={`${account} ${event}`}
      >
        <div class="inline">
          <Field
            form={form}
            name="account"
            label="Username, e-mail or account id"
            value={account}
            autoComplete="off"
            maxLength={200}
          />
          <Choice
            name="event"
            label="What happened"
            value={event}
            options={[["", "Anything"], ...Object.entries(EVENTS)]}
          />
          <Submit form={form}>Show</Submit>
        </div>
      </form>
      <Entries key={`${account} ${event}`} account={account} event={event} />
    </>
  );
}

function Entries({ account, event }: { account: string; event: string }) {
  const path = `/admin/audit?${new URLSearchParams({ account, event })}`;
  const { value, problem } = useLoad<Listing<AuditView>>(path);
  const older = useSignal<readonly AuditView[]>([]);
  const lastPage = useSignal(PER_PAGE);
  const first = value.value?.data;
  const list = [...(first ?? []), ...older.value];
  const more = async () => {
    try {
      const { data } = await call<Listing<AuditView>>("GET", `${path}&before=${list.at(-1)?.id}`);
      older.value = [...older.value, ...data];
      lastPage.value = data.length;
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "danger");
    }
  };
  return (
    <>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      <Table
        caption="Entries"
        rows={first === undefined ? undefined : list}
        keyOf={({ id }) => id}
        empty={
          account === "" && event === "" ? (
            "No entries yet."
          ) : (
            <>
              No entry matches. <a href={hrefOf("/admin/audit")}>Show all</a>
            </>
          )
        }
        columns={COLUMNS}
      />
      {list.length >= PER_PAGE && lastPage.value === PER_PAGE && (
        <div class="row">
          <button type="button" onClick={() => void more()}>
            Show more
          </button>
        </div>
      )}
    </>
  );
}

const COLUMNS: readonly Column<AuditView>[] = [
  { head: "What", cell: ({ event }) => EVENTS[event] ?? event },
  {
    head: "Account",
    class: "long",
    cell: ({ account }) => <a href={hrefOf(`/admin/accounts/${account.id}`)}>{account.username}</a>,
  },
  { head: "From", class: "long", cell: ({ device, address }) => `${device}${address === "" ? "" : `, ${address}`}` },
  {
    head: "Details",
    class: "long",
    cell: ({ detail }) => {
      const details = Object.entries(detail).filter(([, value]) => value !== null && value !== "");
      return details.map(([name, value]) => `${name}: ${textOf(value)}`).join(", ") || "–";
    },
  },
  { head: "When", cell: ({ created_at: at }) => <When iso={at} /> },
];

function textOf(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
