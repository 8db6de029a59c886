// Invitations: create one (its link is shown once), see whether it was used, withdraw it.

import { useSignal } from "@preact/signals";
import { BASE, type InviteView, type Listing, type NewInvite, type NewInviteForm } from "../../../contract.ts";
import { call } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { Choice, Field, Submit, useForm } from "../../parts/form.tsx";
import { Badge, Notice, say } from "../../parts/notice.tsx";
import { ShownOnce } from "../../parts/shown-once.tsx";
import { Table } from "../../parts/table.tsx";
import { When } from "../../parts/time.tsx";
import { hrefOf } from "../../router.ts";
import { session } from "../../session.ts";

/** Who can sign up without invitations, by `auth.signup`. */
const NOW: Readonly<Record<string, string>> = {
  open: "Anyone can sign up now.",
  oauth: "Whoever a sign-in provider signs in gets an account now.",
};

const DAY_MS = 86_400_000;
const EXPIRIES = [
  ["7", "In 7 days"],
  ["30", "In 30 days"],
  ["", "Never"],
] as const;

export function Invites() {
  const { value, problem, reload } = useLoad<Listing<InviteView>>("/admin/invites");
  const made = useSignal("");
  const times = useSignal(0);
  const form = useForm(
    async ({ note = "", expires = "" }) => {
      const wanted: NewInviteForm = {
        note,
        ...(expires === "" ? {} : { expires_at: new Date(Date.now() + Number(expires) * DAY_MS).toISOString() }),
      };
      const { code } = await call<NewInvite>("POST", "/admin/invites", wanted);
      made.value = `${location.origin}${BASE}/signup?invite=${code}`;
      times.value += 1;
      await reload();
    },
    { name: "invite" },
  );
  const list = value.value?.data ?? [];
  return (
    <section class="stack" aria-labelledby="invites">
      <h2 id="invites">Invitations</h2>
      {session.value.signup !== "invite" && (
        <p class="hint">
          {NOW[session.value.signup] ?? "Nobody can sign up now."} Set <code>auth.signup: invite</code> to require an
          invitation.
        </p>
      )}
      <form
        class="card"
        ref={form.ref}
        onSubmit={form.onSubmit}
        noValidate
        aria-label="New invitation"
        key={times.value}
      >
        <div class="inline">
          <Field
            form={form}
            name="note"
            label="Note"
            placeholder="For whom is it?"
            maxLength={200}
            autoComplete="off"
          />
          <Choice name="expires" label="Expires" options={EXPIRIES} />
          <Submit form={form}>Invite</Submit>
        </div>
      </form>
      {made.value !== "" && (
        <ShownOnce
          key={made.value}
          label="The new invitation"
          secret={made.value}
          what="the link"
          testId="invite-link"
          notice="Send this link. It creates one account and is not shown again."
        />
      )}
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      <InviteTable invites={list} changed={reload} />
    </section>
  );
}

function InviteTable({ invites, changed }: { invites: readonly InviteView[]; changed: () => Promise<void> }) {
  return (
    <Table
      caption="Invitations"
      rows={invites}
      keyOf={({ id }) => id}
      columns={[
        { head: "Note", class: "long", cell: ({ note }) => note || "Without a note" },
        { head: "State", cell: (invite) => <State of={invite} /> },
        { head: "Created", cell: ({ created_at: at }) => <When iso={at} /> },
        {
          head: "Actions",
          actions: true,
          cell: (invite) =>
            invite.used_at === null && (
              <button type="button" class="quiet danger" onClick={() => withdraw(invite, changed)}>
                Withdraw<span class="off-screen"> {invite.note}</span>
              </button>
            ),
        },
      ]}
    />
  );
}

function State({ of: { used_at: used, used_by: by, expires_at: expires } }: { of: InviteView }) {
  if (used !== null) {
    return (
      <span>
        <Badge kind="ok">Used</Badge> <When iso={used} />
        {by !== null && (
          <>
            {" by "}
            <a href={hrefOf(`/admin/accounts/${by}`)}>this account</a>
          </>
        )}
      </span>
    );
  }
  if (expires === null) return <Badge kind="info">Open</Badge>;
  if (Date.parse(expires) <= Date.now()) return <Badge>Expired</Badge>;
  return (
    <span>
      <Badge kind="info">Open</Badge> expires <When iso={expires} />
    </span>
  );
}

async function withdraw(invite: InviteView, changed: () => Promise<void>): Promise<void> {
  try {
    await call("DELETE", `/admin/invites/${invite.id}`);
    say("The invitation is withdrawn.");
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), "danger");
  }
  await changed();
}
