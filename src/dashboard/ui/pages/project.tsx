// One project: its limits, its members, its keys and what they used.

import { useSignal } from "@preact/signals";
import type { MemberRow, ProjectDetails, ProjectKeyRow, ProjectRow } from "../../contract-projects.ts";
import { call } from "../api.ts";
import { forget } from "../kept.ts";
import { useLoad } from "../load.ts";
import { Bars } from "../parts/chart.tsx";
import { confirmed } from "../parts/confirm.tsx";
import { Choice, Field, Submit, useForm } from "../parts/form.tsx";
import { Badge, Notice, say } from "../parts/notice.tsx";
import { ProjectForm } from "../parts/project-form.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { Table } from "../parts/table.tsx";
import { usd, When } from "../parts/time.tsx";
import { Title } from "../parts/title.tsx";
import { hrefOf, navigate, path } from "../router.ts";
import { profile } from "../session.ts";
import { ProjectSpent } from "./projects.tsx";

const ROLES = [
  ["member", "Member: makes own keys and sees the usage"],
  ["manager", "Manager: sets limits and members too"],
  ["owner", "Owner: may do everything"],
] as const;

type Changed = () => Promise<void>;

export function ProjectPage() {
  const [, , id = ""] = path.value.split("/");
  const address = `/projects/${id}`;
  const { value, problem, reload } = useLoad<ProjectDetails>(address);
  const isOpen = useSignal(false);
  const details = value.value;
  const role = details?.project.role;
  const send = async (body: Readonly<Record<string, unknown>>) => {
    await call("POST", address, body);
    isOpen.value = false;
    say("The project is changed.");
    await reload();
  };
  const actions = (
    <div class="row">
      <a class="button" href={hrefOf("/projects")}>
        All projects
      </a>
      {role !== undefined && role !== "member" && (
        <button type="button" onClick={() => (isOpen.value = !isOpen.value)}>
          {isOpen.value ? "Cancel" : "Change limits"}
        </button>
      )}
      {details !== undefined && role === "owner" && (
        <button type="button" class="danger" onClick={() => removeProject(details.project)}>
          Delete
        </button>
      )}
    </div>
  );
  return (
    <>
      <Title actions={actions}>{details?.project.name ?? "Project"}</Title>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {details !== undefined && (
        <>
          {isOpen.value ? (
            <ProjectForm name={`project ${id}`} action="Save limits" of={details.project} send={send} />
          ) : (
            <Limits of={details.project} />
          )}
          <Usage of={details} />
          <Keys of={details} address={address} changed={reload} />
          <Members of={details} address={address} changed={reload} />
        </>
      )}
    </>
  );
}

function Limits({ of: project }: { of: ProjectRow }) {
  const limits = [
    project.rpm !== null && `${project.rpm} requests a minute`,
    project.tpm !== null && `${project.tpm} tokens a minute`,
    project.parallel !== null && `${project.parallel} requests at once`,
    project.models !== null && `models: ${project.models.join(", ")}`,
  ].filter((one) => one !== false);
  return (
    <section class="card" aria-label="Budget and limits">
      <p>
        Spent: <ProjectSpent of={project} />
      </p>
      <p class="hint">
        {limits.length === 0 ? "No other limits of all keys together." : `All keys together: ${limits.join("; ")}.`}
      </p>
    </section>
  );
}

function Usage({ of: { days } }: { of: ProjectDetails }) {
  return (
    <section class="page" aria-labelledby="usage">
      <h2 id="usage">Cost of the last 30 days</h2>
      <Bars
        {...{ whole: false, format: usd, what: "Cost" }}
        days={days.map(({ day }) => day)}
        series={[{ name: "Cost", values: days.map(({ cost }) => cost) }]}
      />
    </section>
  );
}

interface PartProps {
  of: ProjectDetails;
  address: string;
  changed: Changed;
}

function Keys({ of: { project, keys }, address, changed }: PartProps) {
  const made = useSignal<string | undefined>(undefined);
  const kept = `key of ${project.id}`;
  const form = useForm(
    async ({ name }) => {
      made.value = (await call<{ key: string }>("POST", `${address}/keys`, { name })).key;
      forget(kept);
      await changed();
    },
    { name: kept, required: { name: "The name" } },
  );
  return (
    <section class="page" aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      {made.value !== undefined && (
        <ShownOnce
          {...{ label: "New key", secret: made.value, what: "the key", testId: "project-key" }}
          notice="Copy the key now: it is not shown again."
        />
      )}
      <form key={made.value} class="card" onSubmit={form.onSubmit} ref={form.ref} noValidate>
        <Field form={form} name="name" label="Name of a new key of yours" maxLength={100} />
        <Submit form={form}>Create key</Submit>
      </form>
      <Table
        caption="Keys"
        rows={keys}
        keyOf={({ id }) => id}
        empty="The project has no keys yet."
        columns={[
          { head: "Name", class: "long", cell: ({ name }) => name },
          { head: "Key", cell: ({ key }) => <code>{key}</code> },
          { head: "Of", cell: ({ username, own }) => (own ? "you" : username) },
          { head: "Spent", class: "number", cell: ({ spent }) => usd(spent) },
          { head: "Last used", cell: ({ last_used_at: at }) => (at === null ? "Never" : <When iso={at} />) },
          {
            head: "Actions",
            actions: true,
            cell: (key) =>
              (key.own || project.role !== "member") && (
                <button type="button" class="quiet danger" onClick={() => revokeKey(key, address, changed)}>
                  Revoke<span class="off-screen"> {key.name}</span>
                </button>
              ),
          },
        ]}
      />
    </section>
  );
}

function Members({ of: { project, members }, address, changed }: PartProps) {
  const mayChange = project.role !== "member";
  const owners = members.filter(({ role }) => role === "owner").length;
  return (
    <section class="page" aria-labelledby="members">
      <h2 id="members">Members</h2>
      {mayChange && <AddMember of={project} address={address} changed={changed} />}
      <Table
        caption="Members"
        rows={members}
        keyOf={({ email }) => email}
        columns={[
          { head: "Name", cell: ({ username }) => username },
          { head: "E-mail", class: "long", cell: ({ email }) => email },
          {
            head: "Role",
            cell: ({ role, provider }) => (
              <>
                <Badge>{role}</Badge> {provider !== null && <small>by groups of {provider}</small>}
              </>
            ),
          },
          { head: "Since", cell: ({ created_at: at }) => <When iso={at} /> },
          {
            head: "Actions",
            actions: true,
            cell: (member) => {
              const isOwn = member.username === profile.value?.username;
              // A project keeps one owner.
              if (member.role === "owner" && owners === 1) return null;
              if (!isOwn && !(mayChange && (member.role !== "owner" || project.role === "owner"))) return null;
              return (
                <button
                  type="button"
                  class="quiet danger"
                  onClick={() => removeMember(member, isOwn, { address, changed })}
                >
                  {isOwn ? "Leave" : "Remove"}
                  {!isOwn && <span class="off-screen"> {member.username}</span>}
                </button>
              );
            },
          },
        ]}
      />
    </section>
  );
}

function AddMember({ of: project, address, changed }: { of: ProjectRow; address: string; changed: Changed }) {
  const added = useSignal(0);
  const kept = `member of ${project.id}`;
  const form = useForm(
    async ({ email = "", role }) => {
      await call("POST", `${address}/members`, { email: email.trim(), role });
      say(`${email.trim()} is a member.`);
      forget(kept);
      added.value += 1;
      await changed();
    },
    { name: kept, required: { email: "The e-mail address" } },
  );
  return (
    <form key={added.value} class="card" onSubmit={form.onSubmit} ref={form.ref} noValidate>
      <Field
        {...{ form, name: "email", label: "E-mail", type: "email", autoComplete: "off" }}
        hint="Of an account on this gateway"
      />
      <Choice name="role" label="Role" options={project.role === "owner" ? ROLES : ROLES.slice(0, 2)} />
      <Submit form={form}>Add member</Submit>
    </form>
  );
}

async function attempt(work: () => Promise<unknown>, done: string): Promise<boolean> {
  try {
    await work();
    say(done);
    return true;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), "danger");
    return false;
  }
}

async function removeProject({ id, name, keys }: ProjectRow): Promise<void> {
  const question = {
    title: `Delete the project “${name}”?`,
    text: `Its ${keys === 1 ? "key is" : `${keys} keys are`} revoked at once. This cannot be undone.`,
    action: "Delete project",
  };
  if (!(await confirmed(question))) return;
  if (await attempt(() => call("DELETE", `/projects/${id}`), "The project is deleted.")) navigate("/projects");
}

async function revokeKey({ id, name, username, own }: ProjectKeyRow, address: string, changed: Changed): Promise<void> {
  const question = {
    title: `Revoke the key “${name}”?`,
    text: `${own ? "Programs" : `Programs of ${username}`} that use it are refused at once. This cannot be undone.`,
    action: "Revoke key",
  };
  if (!(await confirmed(question))) return;
  if (await attempt(() => call("DELETE", `${address}/keys/${id}`), "The key is revoked.")) await changed();
}

async function removeMember(
  { email, username }: MemberRow,
  isOwn: boolean,
  { address, changed }: { address: string; changed: Changed },
): Promise<void> {
  const question = {
    title: isOwn ? "Leave this project?" : `Remove ${username} from this project?`,
    text: `${isOwn ? "Your" : "The member’s"} keys of the project are revoked at once.`,
    action: isOwn ? "Leave project" : "Remove member",
  };
  if (!(await confirmed(question))) return;
  const work = () => call("DELETE", `${address}/members/${encodeURIComponent(email)}`);
  if (!(await attempt(work, isOwn ? "You left the project." : `${username} is removed.`))) return;
  if (isOwn) navigate("/projects");
  else await changed();
}
