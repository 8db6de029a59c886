// The account's projects: groups of keys with limits of their own.

import { useSignal } from "@preact/signals";
import type { Listing } from "../../contract.ts";
import type { ProjectRow } from "../../contract-projects.ts";
import { call } from "../api.ts";
import { useLoad } from "../load.ts";
import { Spent } from "../parts/budget.tsx";
import { Badge, Empty, Notice } from "../parts/notice.tsx";
import { ProjectForm } from "../parts/project-form.tsx";
import { Table } from "../parts/table.tsx";
import { usd } from "../parts/time.tsx";
import { Title } from "../parts/title.tsx";
import { hrefOf, navigate } from "../router.ts";

export function ProjectsPage() {
  const { value, problem } = useLoad<Listing<ProjectRow>>("/projects");
  const isOpen = useSignal(false);
  const rows = value.value?.data;
  const create = async (body: Readonly<Record<string, unknown>>) => {
    const { id } = await call<ProjectRow>("POST", "/projects", body);
    navigate(`/projects/${id}`);
  };
  const actions = (
    <button type="button" class={isOpen.value ? "" : "primary"} onClick={() => (isOpen.value = !isOpen.value)}>
      {isOpen.value ? "Cancel" : "New project"}
    </button>
  );
  return (
    <>
      <Title actions={actions}>Projects</Title>
      {isOpen.value && <ProjectForm name="new-project" action="Create project" send={create} />}
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {rows?.length === 0 && (
        <Empty>
          You are in no project. A project is a group of keys with a budget and limits of its own, which several people
          share.
        </Empty>
      )}
      {rows !== undefined && rows.length > 0 && (
        <Table
          caption="Projects"
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            {
              head: "Name",
              class: "long",
              cell: ({ id, name }) => <a href={hrefOf(`/projects/${id}`)}>{name}</a>,
            },
            { head: "Your role", cell: ({ role }) => <Badge>{role}</Badge> },
            { head: "Spent", cell: (row) => <ProjectSpent of={row} /> },
            { head: "Members", class: "number", cell: ({ members }) => members },
            { head: "Keys", class: "number", cell: ({ keys }) => keys },
          ]}
        />
      )}
    </>
  );
}

/** What the keys of a project have spent, of its budget if it has one. */
export function ProjectSpent({ of: { budget, spent, budget_period: period, resets_at } }: { of: ProjectRow }) {
  if (budget === null) return <>{usd(spent)}</>;
  return <Spent {...{ limit: budget, spent, resets_at }} period={period === null ? "" : ` per ${period}`} />;
}
