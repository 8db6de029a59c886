// The account's own page: its data, ways to sign in, sessions, audit log and deletion.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { EventView, Listing, SessionView } from "../../contract.ts";
import type { WebhookSecretView } from "../../contract-jobs.ts";
import type { PlanLimits } from "../../contract-limits.ts";
import { call } from "../api.ts";
import { recall } from "../kept.ts";
import { useLoad } from "../load.ts";
import { beginConnect } from "../oauth-sign-in.ts";
import { BudgetText } from "../parts/budget.tsx";
import { confirmed } from "../parts/confirm.tsx";
import { Code } from "../parts/copy.tsx";
import { EVENTS } from "../parts/events.ts";
import { Field, Submit, useForm } from "../parts/form.tsx";
import { Badge, Notice, say } from "../parts/notice.tsx";
import { dayText, formatBytes, When } from "../parts/time.tsx";
import { Title } from "../parts/title.tsx";
import { VERIFY_FORM, VerifyCode } from "../parts/verify-code.tsx";
import { navigate } from "../router.ts";
import { forgetSession, profile, refreshSession, session } from "../session.ts";

export function AccountPage() {
  // The amount spent has changed since the page was loaded. If this request fails, the page keeps the former amount.
  useEffect(() => {
    refreshSession().catch(() => undefined);
  }, []);
  return (
    <>
      <Title>Account</Title>
      <Profile />
      <Password />
      <Providers />
      <Webhooks />
      <Sessions />
      <Events />
      <Deletion />
    </>
  );
}

function Profile() {
  const who = profile.value;
  const verifying = useSignal(recall(VERIFY_FORM) !== undefined);
  if (who === null) return null;
  return (
    <section class="card" aria-labelledby="profile">
      <h2 id="profile">Profile</h2>
      <dl class="facts">
        <dt>Username</dt>
        <dd>
          {who.username} {who.admin && <Badge kind="info">Admin</Badge>}
        </dd>
        <dt>E-mail</dt>
        <dd>
          {who.email} {who.email_verified ? <Badge kind="ok">Verified</Badge> : <Badge kind="warn">Not verified</Badge>}{" "}
          {!who.email_verified && !verifying.value && (
            <button type="button" class="quiet" onClick={() => (verifying.value = true)}>
              Verify
            </button>
          )}
        </dd>
        <dt>Plan</dt>
        <dd>
          <span class="capital">{who.tier}</span>, {planLimits(who)} for each key
        </dd>
        <dt>Storage</dt>
        <dd>
          {formatBytes(who.storage.used_bytes)} of {formatBytes(who.storage.limit_bytes)} for responses, threads, files
          and jobs
        </dd>
        {who.budget !== null && (
          <>
            <dt>Budget</dt>
            <dd>
              <BudgetText of={who.budget} />
            </dd>
          </>
        )}
        <dt>Since</dt>
        <dd>{dayText(who.created_at)}</dd>
      </dl>
      {verifying.value && <VerifyCode done={() => (verifying.value = false)} />}
    </section>
  );
}

function planLimits({ tier_rpm: rpm, tier_tpm: tpm, tier_parallel: parallel }: PlanLimits): string {
  const tokens = tpm === null ? [] : [`${tpm.toLocaleString("en")} tokens a minute`];
  const atOnce = parallel === null ? [] : [`${parallel.toLocaleString("en")} at once`];
  return [`${rpm.toLocaleString("en")} requests a minute`, ...tokens, ...atOnce].join(", ");
}

function Password() {
  const who = profile.value;
  const times = useSignal(0);
  const form = useForm(
    async ({ current_password, password }) => {
      await call("POST", "/account/password", { current_password, password });
      times.value += 1;
      say("Your password is changed. Other devices are signed out.");
    },
    { name: "password", required: { current_password: "Current password", password: "New password" } },
  );
  const mail = async () => {
    await tell(call("POST", "/account/password/mail"), `A mail with a link is on its way to ${who?.email}.`);
  };
  return (
    <section class="card" aria-labelledby="password">
      <h2 id="password">Password</h2>
      {who?.has_password ? (
        <form ref={form.ref} onSubmit={form.onSubmit} noValidate key={times.value} class="narrow">
          <input
            type="text"
            class="off-screen"
            autoComplete="username"
            value={who.username}
            readOnly
            tabIndex={-1}
            aria-hidden="true"
          />
          <Field
            form={form}
            name="current_password"
            label="Current password"
            type="password"
            autoComplete="current-password"
          />
          <Field
            form={form}
            name="password"
            label="New password"
            type="password"
            autoComplete="new-password"
            hint="At least 10 characters."
          />
          <div class="row">
            <Submit form={form}>Change password</Submit>
          </div>
        </form>
      ) : (
        <div class="row">
          <p>You sign in through a provider and have no password.</p>
          <button type="button" onClick={mail}>
            Send me a link to set one
          </button>
        </div>
      )}
    </section>
  );
}

/** The secret is shown only on request, since other people may see the screen. */
function Webhooks() {
  const secret = useSignal<string | undefined>(undefined);
  const show = async (method: "GET" | "POST", path: string) => {
    secret.value = (await call<WebhookSecretView>(method, path)).secret;
  };
  const renew = async () => {
    const question = {
      title: "Renew the webhook secret?",
      text: "From then on, events are signed with the new secret. Servers that still use this one will refuse them.",
      action: "Renew",
    };
    if (await confirmed(question)) await tell(show("POST", "/webhook-secret/renew"), "The webhook secret is renewed.");
  };
  return (
    <section class="card" aria-labelledby="webhooks">
      <h2 id="webhooks">Webhooks</h2>
      <p>Webhook requests of crawls and batches are signed with this secret (X-Firecrawl-Signature).</p>
      {secret.value === undefined ? (
        <div class="row">
          <button type="button" onClick={() => tell(show("GET", "/webhook-secret"))}>
            Show the webhook secret
          </button>
        </div>
      ) : (
        <>
          <Code text={secret.value} what="the webhook secret" />
          <div class="row">
            <button type="button" onClick={renew}>
              Renew the webhook secret
            </button>
          </div>
        </>
      )}
    </section>
  );
}

function Providers() {
  const { providers } = session.value;
  const linked = profile.value?.oauth_providers ?? [];
  if (providers.length === 0 && linked.length === 0) return null;
  const all = [...providers, ...linked.filter((slug) => !providers.some((one) => one.slug === slug)).map(asProvider)];
  return (
    <section class="card" aria-labelledby="providers">
      <h2 id="providers">Sign-in providers</h2>
      <ul class="lines">
        {all.map(({ slug, name }) => (
          <li key={slug}>
            <b>{name}</b>
            {linked.includes(slug) ? (
              <>
                <Badge kind="ok">Linked</Badge>
                <button type="button" class="quiet danger" onClick={() => unlink(slug, name)}>
                  Unlink<span class="off-screen"> {name}</span>
                </button>
              </>
            ) : (
              <>
                <span />
                <button type="button" onClick={() => tell(beginConnect(slug))}>
                  Link<span class="off-screen"> {name}</span>
                </button>
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Sessions() {
  const sessions = useLoad<Listing<SessionView>>("/sessions");
  const list = sessions.value.value?.data;
  const end = async (id: string) => {
    await tell(call("DELETE", `/sessions/${id}`), "That device is signed out.");
    await sessions.reload();
  };
  const endOthers = async () => {
    await tell(call("POST", "/sessions/end-others"), "Every other device is signed out.");
    await sessions.reload();
  };
  return (
    <section class="card" aria-labelledby="sessions">
      <div class="row between">
        <h2 id="sessions">Where you are signed in</h2>
        {list !== undefined && list.length > 1 && (
          <button type="button" onClick={endOthers}>
            Sign out everywhere else
          </button>
        )}
      </div>
      {sessions.problem.value !== undefined && <Notice kind="danger">{sessions.problem.value}</Notice>}
      <ul class="lines">
        {list?.map((session) => (
          <li key={session.id}>
            <b>{session.device}</b>
            <span>
              {session.address}, used <When iso={session.last_used_at} />
            </span>
            {session.current ? (
              <Badge kind="ok">This session</Badge>
            ) : (
              <button type="button" class="quiet danger" onClick={() => end(session.id)}>
                Sign out<span class="off-screen"> {session.device}</span>
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Events() {
  const events = useLoad<Listing<EventView>>("/events");
  const older = useSignal<readonly EventView[]>([]);
  const first = events.value.value?.data ?? [];
  const list = [...first, ...older.value];
  const last = list.at(-1);
  const isWhole = useSignal(false);
  const more = async () => {
    const { data } = await call<Listing<EventView>>("GET", `/events?before=${last?.id}`);
    older.value = [...older.value, ...data];
    isWhole.value = data.length === 0;
  };
  return (
    <section class="card" aria-labelledby="events">
      <h2 id="events">What happened</h2>
      <ul class="lines">
        {list.map((one) => (
          <li key={one.id}>
            <b>{EVENTS[one.event] ?? one.event}</b>
            <span>
              {typeof one.detail["name"] === "string" && `${one.detail["name"]} · `}
              {one.device}, {one.address}
            </span>
            <When iso={one.created_at} />
          </li>
        ))}
      </ul>
      {first.length >= 20 && !isWhole.value && (
        <div class="row">
          <button type="button" onClick={() => tell(more())}>
            Show more
          </button>
        </div>
      )}
    </section>
  );
}

function Deletion() {
  const form = useForm(
    async ({ username }) => {
      const text =
        "Your keys stop working at once. Files, jobs, stored answers and usage are deleted with the account.";
      if (!(await confirmed({ title: "Delete your account permanently?", text, action: "Delete permanently" }))) return;
      await call("POST", "/account/delete", { username });
      forgetSession();
      navigate("/login", { replace: true });
      say("Your account is deleted.");
    },
    { name: "deletion", required: { username: "Username" } },
  );
  return (
    <section class="card" aria-labelledby="deletion">
      <h2 id="deletion">Delete the account</h2>
      <details>
        <summary>This cannot be undone</summary>
        <form ref={form.ref} onSubmit={form.onSubmit} noValidate class="narrow">
          <Field form={form} name="username" label="Type your username to confirm" autoComplete="off" />
          <div class="row">
            <Submit form={form} danger>
              Delete account
            </Submit>
          </div>
        </form>
      </details>
    </section>
  );
}

async function unlink(slug: string, name: string): Promise<void> {
  const text = `You can no longer sign in with ${name}.`;
  if (!(await confirmed({ title: `Unlink ${name}?`, text, action: "Unlink" }))) return;
  await tell(call("DELETE", `/oauth/${encodeURIComponent(slug)}`), `${name} is unlinked.`);
  await refreshSession();
}

function asProvider(slug: string) {
  return { slug, name: slug };
}

/** Reports the result in a message. Failures are shown in the same way. */
async function tell(doing: Promise<unknown>, done?: string): Promise<void> {
  try {
    await doing;
    if (done !== undefined) say(done);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), "danger");
  }
}
