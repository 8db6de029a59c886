// One account, for operators: who it is, its plan, its keys, its end.

import type { AccountView, PlanForm } from "../../../contract.ts";
import { call } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { BudgetText } from "../../parts/budget.tsx";
import { confirmed } from "../../parts/confirm.tsx";
import { Choice, Field, Submit, useForm } from "../../parts/form.tsx";
import { Badge, Empty, Notice, say } from "../../parts/notice.tsx";
import { dayText, short } from "../../parts/time.tsx";
import { Title } from "../../parts/title.tsx";
import { hrefOf, navigate, path } from "../../router.ts";
import { profile } from "../../session.ts";
import { KeyTable, revokeKey } from "../keys.tsx";
import { PlanEnd } from "./accounts.tsx";

/** The page. */
export function AdminAccountPage() {
  const id = path.value.slice(path.value.lastIndexOf("/") + 1);
  const { value, problem, reload } = useLoad<AccountView>(`/admin/accounts/${id}`);
  const account = value.value?.id === id ? value.value : undefined;
  return (
    <>
      <p class="back">
        <a href={hrefOf("/admin/accounts")}>All accounts</a>
      </p>
      <Title>{account?.username ?? "Account"}</Title>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {account !== undefined && (
        <>
          <Facts account={account} />
          <Plan key={`${account.tier} ${account.subscription_until}`} account={account} changed={reload} />
          <Keys account={account} changed={reload} />
          {account.id !== profile.value?.id && <Deletion account={account} />}
        </>
      )}
    </>
  );
}

function Facts({ account }: { account: AccountView }) {
  return (
    <section class="card" aria-label="Who it is">
      <dl class="facts">
        <dt>E-mail</dt>
        <dd>
          {account.email}{" "}
          {account.email_verified ? <Badge kind="ok">Verified</Badge> : <Badge kind="warn">Not verified</Badge>}
        </dd>
        {account.admin && (
          <>
            <dt>Role</dt>
            <dd>
              <Badge kind="info">Admin</Badge>
            </dd>
          </>
        )}
        <dt>Plan</dt>
        <dd>
          <span class="capital">{account.tier}</span> <PlanEnd of={account} />
        </dd>
        {account.budget !== null && (
          <>
            <dt>Budget</dt>
            <dd>
              <BudgetText of={account.budget} />
            </dd>
          </>
        )}
        <dt>Tokens</dt>
        <dd>{short(account.total_tokens)}</dd>
        <dt>Since</dt>
        <dd>{dayText(account.created_at)}</dd>
        <dt>Id</dt>
        <dd>
          <code>{account.id}</code>
        </dd>
      </dl>
    </section>
  );
}

function Plan({ account, changed }: { account: AccountView; changed: () => Promise<void> }) {
  const form = useForm(async ({ tier = "", until = "" }) => {
    const wanted: PlanForm = { tier, subscription_until: until === "" ? null : new Date(until).toISOString() };
    await call("POST", `/admin/accounts/${account.id}`, wanted);
    say(`${account.username} has the plan ${tier}.`);
    await changed();
  });
  return (
    <form class="card" onSubmit={form.onSubmit} noValidate aria-label="Plan">
      <div class="inline">
        <Choice
          name="tier"
          label="Plan"
          value={account.tier}
          options={account.tiers.map((tier) => [tier, tier.slice(0, 1).toUpperCase() + tier.slice(1)] as const)}
        />
        <Field
          form={form}
          name="until"
          label="Until (UTC)"
          type="date"
          value={account.subscription_until?.slice(0, 10)}
          hint="Empty: never ends. A trial ends when a plan is set."
        />
        <Submit form={form}>Set plan</Submit>
      </div>
    </form>
  );
}

function Keys({ account, changed }: { account: AccountView; changed: () => Promise<void> }) {
  return (
    <section class="stack" aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      {account.keys.length === 0 ? (
        <Empty>This account has no keys.</Empty>
      ) : (
        <KeyTable
          keys={account.keys}
          revoke={(key) => revokeKey(key, { path: `/admin/accounts/${account.id}/keys`, changed })}
        />
      )}
    </section>
  );
}

function Deletion({ account }: { account: AccountView }) {
  const remove = async () => {
    const sure = await confirmed({
      title: `Delete ${account.username}?`,
      text: "Its keys, threads, files, jobs and usage are deleted too. This cannot be undone.",
      action: "Delete account",
    });
    if (!sure) return;
    try {
      await call("DELETE", `/admin/accounts/${account.id}`);
      navigate("/admin/accounts", { replace: true });
      say(`The account ${account.username} is deleted.`);
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "danger");
    }
  };
  return (
    <div class="row">
      <button type="button" class="danger" onClick={remove}>
        Delete this account
      </button>
    </div>
  );
}
