// Verifies the e-mail address with a six-digit code. Requests the mail with the code when it is shown.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call, Refused } from "../api.ts";
import { profile, refreshSession, session } from "../session.ts";
import { Field, Submit, useForm } from "./form.tsx";
import { say } from "./notice.tsx";

/** The name of the stored input. */
export const VERIFY_FORM = "verify";

/** Where to find the code. */
const CODE_TEXT = {
  smtp: (address: string) => `A mail with a six-digit code was sent to ${address}. It is valid for ten minutes.`,
  files: () =>
    "This gateway has no mail server: the mail with the six-digit code was written to the outbox folder of its data directory. Its administrator can read it to you. It is valid for ten minutes.",
  failing: (address: string) =>
    `The mail server of this gateway does not answer. Sending the six-digit code to ${address} will be retried for some minutes.`,
} as const;

/** The form; `done` is called when the address is verified. */
export function VerifyCode({ done }: { done: () => void }) {
  const sent = useSignal("");
  const send = async (again: boolean) => {
    try {
      await call("POST", "/verification/send");
      sent.value = CODE_TEXT[session.value.mail](profile.value?.email ?? "your address");
      if (again) say("A new code was created.");
    } catch (error) {
      // A mail was sent a moment ago, and its code is still valid.
      const recent = error instanceof Refused && error.code === "code_recently_sent";
      sent.value =
        recent && !again ? `Look for the mail to ${profile.value?.email ?? "your address"}.` : messageOf(error);
    }
  };
  useEffect(() => {
    void send(false);
  }, []);
  const form = useForm(
    async ({ code = "" }) => {
      await call("POST", "/verification/verify", { code });
      await refreshSession();
      say("Your e-mail address is verified.");
      done();
    },
    { name: VERIFY_FORM, required: { code: "Verification code" } },
  );
  return (
    <form ref={form.ref} onSubmit={form.onSubmit} noValidate>
      <p aria-live="polite">{sent.value || "Sending a code…"}</p>
      <Field
        form={form}
        name="code"
        label="Verification code"
        autoComplete="one-time-code"
        inputMode="numeric"
        autoFocus
      />
      <div class="row">
        <Submit form={form}>Verify</Submit>
        <button type="button" class="quiet" onClick={() => send(true)}>
          Send a new code
        </button>
      </div>
    </form>
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
