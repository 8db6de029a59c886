// A forgotten password: requests the mail, and sets a new password with the link in it.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../api.ts";
import { Field, Submit, useForm } from "../parts/form.tsx";
import { Notice, say } from "../parts/notice.tsx";
import { Title } from "../parts/title.tsx";
import { hrefOf, navigate } from "../router.ts";
import { refreshSession, session } from "../session.ts";

/** The page. The link's token is in the fragment, which browsers do not send to servers. */
export function ForgotPage() {
  const token = useSignal(tokenNow());
  useEffect(() => {
    // Opening the link in a window that already shows this page changes only the fragment.
    const changed = () => (token.value = tokenNow());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return token.value === null ? <Ask /> : <Reset token={token.value} />;
}

function tokenNow(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get("token");
}

/** Where to look for the link. The page does not reveal whether the account exists. */
const LINK_TEXT = {
  smtp: (address: string) => `If there is an account for ${address}, a mail with a link was sent.`,
  files: (address: string) =>
    `This gateway has no mail server. If there is an account for ${address}, the mail was written to the outbox folder of its data directory: ask its administrator.`,
  failing: (address: string) =>
    `The mail server of this gateway does not answer. If there is an account for ${address}, sending will be retried for some minutes.`,
} as const;

function Ask() {
  const asked = useSignal<string | undefined>(undefined);
  const form = useForm(
    async ({ email }) => {
      await call("POST", "/password/forgot", { email });
      asked.value = email;
    },
    { name: "guest-forgot", required: { email: "E-mail" } },
  );
  return (
    <>
      <Title>Set a new password</Title>
      {asked.value !== undefined ? (
        <Notice kind={session.value.mail === "smtp" ? "ok" : "warn"}>
          {LINK_TEXT[session.value.mail](asked.value)}
        </Notice>
      ) : (
        <form ref={form.ref} onSubmit={form.onSubmit} noValidate>
          <Field
            form={form}
            name="email"
            label="E-mail"
            type="email"
            autoComplete="email"
            hint="We will mail you a link that works once, within half an hour."
            autoFocus
          />
          <Submit form={form}>Send the link</Submit>
        </form>
      )}
      <p class="aside">
        <a href={hrefOf("/login")}>Back to sign in</a>
      </p>
    </>
  );
}

function Reset({ token }: { token: string }) {
  const form = useForm(
    async ({ password }) => {
      await call("POST", "/password/reset", { token, password });
      // All sessions have ended, including this one.
      await refreshSession();
      say("Your password is set. Sign in with it.");
      navigate("/login", { replace: true });
    },
    { name: "guest-reset", required: { password: "Password" } },
  );
  return (
    <>
      <Title>Set a new password</Title>
      <form ref={form.ref} onSubmit={form.onSubmit} noValidate>
        <Field
          form={form}
          name="password"
          label="Password"
          type="password"
          autoComplete="new-password"
          hint="At least 10 characters. Every device is signed out."
          autoFocus
        />
        <Submit form={form}>Set password</Submit>
      </form>
    </>
  );
}
