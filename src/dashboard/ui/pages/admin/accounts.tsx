// All accounts, newest first, with a search by the beginning of the name or address; and invitations.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { AccountRow, Listing } from "../../../contract.ts";
import { call } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { Badge, Notice, say } from "../../parts/notice.tsx";
import { choose } from "../../parts/span.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { dayText, short } from "../../parts/time.tsx";
import { Title } from "../../parts/title.tsx";
import { hrefOf, query } from "../../router.ts";
import { Invites } from "./invites.tsx";

const PER_PAGE = 50;
/** The pause in typing after which the search starts. */
const TYPING_MS = 250;

export function AccountsPage() {
  const typed = query.value.get("q") ?? "";
  const asked = useSignal(typed);
  // Content below a list is shown after the list, which would otherwise push it down.
  const came = useSignal(false);
  useEffect(() => {
    const timer = setTimeout(() => (asked.value = typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <>
      <Title>Accounts</Title>
      <div class="field narrow">
        <label for="search">Name or e-mail address begins with</label>
        <input
          id="search"
          type="search"
          value={typed}
          autoComplete="off"
          spellcheck={false}
          onInput={(event) => choose({ q: event.currentTarget.value })}
        />
      </div>
      <Found key={asked.value} begins={asked.value} came={() => (came.value = true)} />
      {came.value && <Invites />}
    </>
  );
}

function Found({ begins, came }: { begins: string; came: () => void }) {
  const path = `/admin/accounts?q=${encodeURIComponent(begins)}`;
  const { value, problem } = useLoad<Listing<AccountRow>>(path);
  const older = useSignal<readonly AccountRow[]>([]);
  const lastPage = useSignal(PER_PAGE);
  const first = value.value?.data;
  const isThere = first !== undefined || problem.value !== undefined;
  useEffect(() => {
    if (isThere) came();
  }, [isThere]);
  const list = [...(first ?? []), ...older.value];
  const more = async () => {
    try {
      const { data } = await call<Listing<AccountRow>>("GET", `${path}&before=${list.at(-1)?.id}`);
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
        caption="Accounts"
        rows={first === undefined ? undefined : list}
        keyOf={({ id }) => id}
        empty="No user name or address begins with this text."
        columns={COLUMNS}
      />
      {list.length >= PER_PAGE && lastPage.value === PER_PAGE && (
        <div class="row">
          <button type="button" onClick={more}>
            Show more
          </button>
        </div>
      )}
    </>
  );
}

const COLUMNS: readonly Column<AccountRow>[] = [
  {
    head: "Account",
    class: "long",
    cell: ({ id, username, admin }) => (
      <>
        <a href={hrefOf(`/admin/accounts/${id}`)}>{username}</a> {admin && <Badge kind="info">Admin</Badge>}
      </>
    ),
  },
  {
    head: "E-mail",
    class: "long",
    cell: ({ email, email_verified: isVerified }) => (
      <>
        {email} {!isVerified && <Badge kind="warn">Not verified</Badge>}
      </>
    ),
  },
  {
    head: "Plan",
    cell: (account) => (
      <span>
        <span class="capital">{account.tier}</span> <PlanEnd of={account} />
      </span>
    ),
  },
  { head: "Keys", class: "number", cell: ({ live_keys: keys }) => keys },
  { head: "Tokens", class: "number", cell: ({ total_tokens: tokens }) => short(tokens) },
  { head: "Since", class: "once", cell: ({ created_at: at }) => dayText(at) },
];

/** The end of the plan, if it has one. */
export function PlanEnd({ of: { subscription_until: until, trial_ends_at: trial } }: { of: AccountRow }) {
  const end = until ?? trial;
  if (end === null) return null;
  const what = until === null ? "trial " : "";
  const over = Date.parse(end) <= Date.now();
  return over ? (
    <Badge kind="danger">
      {what}ended {dayText(end)}
    </Badge>
  ) : (
    <Badge>
      {what}until {dayText(end)}
    </Badge>
  );
}
