// Signing in with a password or through a provider.

import { call } from "../api.ts";
import { Field, Submit, useForm } from "../parts/form.tsx";
import { Notice } from "../parts/notice.tsx";
import { ProviderLinks } from "../parts/providers.tsx";
import { Title } from "../parts/title.tsx";
import { hrefOf, query, safeNext } from "../router.ts";
import { refreshSession, session } from "../session.ts";

/** The sign-in page. The app decides which page follows, once someone is signed in. */
export function LoginPage() {
  const form = useForm(
    async ({ username_or_email, password }) => {
      await call("POST", "/login", { username_or_email, password });
      await refreshSession();
    },
    { name: "guest-login", required: { username_or_email: "Username or e-mail", password: "Password" } },
  );
  const { signup } = session.value;
  return (
    <>
      <Title>Sign in</Title>
      {signup === "first" && (
        <Notice>
          There is no account yet. The first one is created with the link printed at startup;{" "}
          <code>sallyport setup-link</code> prints it again.
        </Notice>
      )}
      <form ref={form.ref} onSubmit={form.onSubmit} noValidate>
        <Field form={form} name="username_or_email" label="Username or e-mail" autoComplete="username" autoFocus />
        <Field form={form} name="password" label="Password" type="password" autoComplete="current-password" />
        <Submit form={form}>Sign in</Submit>
      </form>
      <ProviderLinks next={safeNext(query.value.get("next"))} />
      <p class="aside">
        <a href={hrefOf("/forgot")}>Forgot password?</a>
        {(signup === "open" || signup === "invite") && <a href={hrefOf("/signup")}>Make an account</a>}
      </p>
    </>
  );
}
