// One account, for operators: its data, plan, keys and deletion.

import { useSignal } from "@preact/signals";
import type { AccountView, PlanForm, ResetLink } from "../../../contract.ts";
import { call } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { BudgetText } from "../../parts/budget.tsx";
import { confirmed } from "../../parts/confirm.tsx";
import { Choice, Field, Submit, useForm } from "../../parts/form.tsx";
import { Badge, Empty, Notice, say } from "../../parts/notice.tsx";
import { ShownOnce } from "../../parts/shown-once.tsx";
import { dayText, short, When } from "../../parts/time.tsx";
import { Title } from "../../parts/title.tsx";
import { hrefOf, navigate, path } from "../../router.ts";
import { profile } from "../../session.ts";
import { KeyTable, revokeKey } from "../keys.tsx";
import { PlanEnd } from "./accounts.tsx";

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
          <Help account={account} changed={reload} />
          <Keys account={account} changed={reload} />
          <Sessions account={account} changed={reload} />
          {account.id !== profile.value?.id && <Deletion account={account} />}
        </>
      )}
    </>
  );
}

function Facts({ account }: { account: AccountView }) {
  return (
    <section class="card" aria-label="Profile">
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
  const form = useForm(
    async ({ tier = "", until = "" }) => {
      const wanted: PlanForm = { tier, subscription_until: until === "" ? null : new Date(until).toISOString() };
      await call("POST", `/admin/accounts/${account.id}`, wanted);
      say(`${account.username} has the plan ${tier}.`);
      await changed();
    },
    { name: `plan-${account.id}` },
  );
  return (
    <form class="card" ref={form.ref} onSubmit={form.onSubmit} noValidate aria-label="Plan">
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

/** Actions for a person who cannot do them alone. */
function Help({ account, changed }: { account: AccountView; changed: () => Promise<void> }) {
  const link = useSignal<ResetLink | undefined>(undefined);
  const { id, username, admin, email_verified: verified } = account;
  const run = (work: () => Promise<void>) =>
    work()
      .then(changed)
      .catch((error: unknown) => say(error instanceof Error ? error.message : String(error), "danger"));
  const makeLink = () =>
    run(async () => {
      link.value = await call<ResetLink>("POST", `/admin/accounts/${id}/reset-link`);
    });
  const verify = () =>
    run(async () => {
      await call("POST", `/admin/accounts/${id}/verify`);
      say(`The address of ${username} counts as verified.`);
    });
  const setAdmin = () =>
    run(async () => {
      const question = admin
        ? {
            title: `Remove the administrator rights of ${username}?`,
            text: "The pages under Admin are closed to this account at once.",
          }
        : {
            title: `Make ${username} an administrator?`,
            text: "This account can then see and change everything that you can.",
          };
      if (!(await confirmed({ ...question, action: admin ? "Remove rights" : "Make admin" }))) return;
      await call("POST", `/admin/accounts/${id}/admin`, { admin: !admin });
      say(admin ? `${username} is no longer an administrator.` : `${username} is an administrator.`);
    });
  return (
    <section class="card" aria-label="Help">
      <div class="row">
        <button type="button" onClick={() => void makeLink()}>
          Create a password link
        </button>
        {!verified && (
          <button type="button" onClick={() => void verify()}>
            Mark address as verified
          </button>
        )}
        {id !== profile.value?.id && (
          <button type="button" onClick={() => void setAdmin()}>
            {admin ? "Remove administrator rights" : "Make admin"}
          </button>
        )}
      </div>
      {link.value !== undefined && (
        <ShownOnce
          key={link.value.url}
          label="The password link"
          secret={link.value.url}
          what="the link"
          testId="reset-link"
          notice={`Send this link to ${username}. It sets a new password once, within ${link.value.minutes} minutes, ends all sessions and verifies the address.`}
        />
      )}
    </section>
  );
}

function Sessions({ account, changed }: { account: AccountView; changed: () => Promise<void> }) {
  const { id, username, sessions } = account;
  const end = async () => {
    const text = "The user must sign in again. Keys keep working.";
    if (!(await confirmed({ title: `End all sessions of ${username}?`, text, action: "End sessions" }))) return;
    try {
      await call("POST", `/admin/accounts/${id}/sessions/end`);
      say(`The sessions of ${username} are ended.`);
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "danger");
    }
    await changed();
  };
  return (
    <section class="card" aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      {sessions.length === 0 ? (
        <p>Not signed in anywhere.</p>
      ) : (
        <>
          <ul class="lines">
            {sessions.map((one) => (
              <li key={one.id}>
                <b>{one.device}</b>
                <span>{one.address}</span>
                <When iso={one.last_used_at} />
              </li>
            ))}
          </ul>
          <div class="row">
            <button type="button" class="danger" onClick={() => void end()}>
              End all sessions
            </button>
          </div>
        </>
      )}
    </section>
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
          path={`/admin/accounts/${account.id}/keys`}
          changed={changed}
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
