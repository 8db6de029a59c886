// Creating an account: the form, then the verification code. Someone who comes from a provider needs no password.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Boot, PendingPerson } from "../../contract.ts";
import { call } from "../api.ts";
import { endTrip } from "../oauth-sign-in.ts";
import { Field, Submit, useForm } from "../parts/form.tsx";
import { Notice } from "../parts/notice.tsx";
import { ProviderLinks } from "../parts/providers.tsx";
import { Title } from "../parts/title.tsx";
import { VerifyCode } from "../parts/verify-code.tsx";
import { hrefOf, navigate, query } from "../router.ts";
import { profile, refreshSession, session } from "../session.ts";

export function SignupPage() {
  const who = profile.value;
  const finished = who?.email_verified === true;
  useEffect(() => {
    if (finished) navigate("/", { replace: true });
  }, [finished]);
  if (finished) return null;
  return who === null ? <NewAccount /> : <Verify />;
}

function Verify() {
  return (
    <>
      <Title>Verify your e-mail address</Title>
      <VerifyCode done={() => navigate("/", { replace: true })} />
      <p class="aside">
        <a href={hrefOf("/")}>Later</a>
      </p>
    </>
  );
}

function NewAccount() {
  const { signup, providers } = session.value;
  const asked = query.value;
  const [setup, invite] = [asked.get("setup"), asked.get("invite")];
  const person = usePending(asked.get("pending"));
  const pending = person.value === "gone" || person.value === "none" ? undefined : person.value;
  const form = useForm(
    async ({ email, username, password, invite: given }) => {
      await call("POST", "/signup", {
        email,
        username,
        password: password === "" ? undefined : password,
        invite: given,
        setup: setup ?? undefined,
        pending: pending === undefined ? undefined : (asked.get("pending") ?? undefined),
      });
      await refreshSession();
    },
    {
      name: "guest-signup",
      required: {
        email: "E-mail",
        username: "Username",
        ...(pending === undefined ? { password: "Password" } : {}),
        ...(signup === "invite" ? { invite: "Invite" } : {}),
      },
    },
  );
  const reason = closedBy(signup, { setup, comesFromProvider: pending !== undefined || person.value === undefined });
  if (reason !== undefined) return <Closed text={reason} />;
  const provider = providers.find(({ slug }) => slug === pending?.provider)?.name;
  // The form is shown only after the answer, which would otherwise discard its input.
  if (person.value === undefined) return <Title>Create an account</Title>;
  return (
    <>
      <Title>Create an account</Title>
      {signup === "first" && <Notice>This is the first account: it will be an administrator.</Notice>}
      {person.value === "gone" && (
        <Notice kind="warn">Signing up through the provider took too long. Start again.</Notice>
      )}
      {provider !== undefined && <Notice>You will sign in with {provider}. A password is optional.</Notice>}
      <form ref={form.ref} onSubmit={form.onSubmit} noValidate>
        <Field
          form={form}
          name="email"
          label="E-mail"
          type="email"
          autoComplete="email"
          value={pending?.email ?? undefined}
          autoFocus
        />
        <Field
          form={form}
          name="username"
          label="Username"
          autoComplete="username"
          value={pending?.name?.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-") ?? undefined}
        />
        <Field
          form={form}
          name="password"
          label="Password"
          type="password"
          autoComplete="new-password"
          hint="At least 10 characters."
        />
        {signup === "invite" && <Field form={form} name="invite" label="Invite" value={invite ?? undefined} />}
        <Submit form={form}>Create account</Submit>
      </form>
      {pending === undefined && signup !== "first" && <ProviderLinks next="/" />}
      <p class="aside">
        <a href={hrefOf("/login")}>I have an account</a>
      </p>
    </>
  );
}

/** Why this visitor cannot create an account; undefined if they can. */
function closedBy(
  signup: Boot["signup"],
  { setup, comesFromProvider }: { readonly setup: string | null; readonly comesFromProvider: boolean },
): string | undefined {
  if (signup === "closed") return "Sign-up is disabled. Ask who runs this server.";
  if (signup === "oauth" && !comesFromProvider) return "An account is made when you sign in through a provider.";
  if (signup === "first" && setup === null)
    return "The first account is created with the link printed at startup. `sallyport setup-link` prints it again.";
  return undefined;
}

function Closed({ text }: { text: string }) {
  return (
    <>
      <Title>Create an account</Title>
      <Notice>{text}</Notice>
      <p class="aside">
        <a href={hrefOf("/login")}>Back to sign in</a>
      </p>
    </>
  );
}

/**
 * The user whom a provider sent here: undefined while loading, `none` without one, `gone` when the sign-in has expired.
 */
function usePending(token: string | null) {
  const person = useSignal<PendingPerson | "none" | "gone" | undefined>(token === null ? "none" : undefined);
  useEffect(() => {
    if (token === null) return;
    // A sign-in that was begun elsewhere could give the new account another person's identity.
    if (endTrip(query.value) === undefined) {
      person.value = "gone";
      return;
    }
    call<PendingPerson>("POST", "/oauth/pending", { pending: token }).then(
      (found) => (person.value = found),
      () => (person.value = "gone"),
    );
  }, [token]);
  return person;
}
