// All versions of all decision models: aliases, measured quality and problems.

import type { DecisionVersionRow, Listing } from "../../../contract.ts";
import { useLoad } from "../../load.ts";
import { Badge, Empty, Notice } from "../../parts/notice.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { percent } from "../../parts/time.tsx";
import { Title } from "../../parts/title.tsx";
import { hrefOf } from "../../router.ts";

export function DecisionsPage() {
  const { value, problem } = useLoad<Listing<DecisionVersionRow>>("/admin/decisions");
  const versions = value.value?.data;
  return (
    <>
      <Title>Decisions</Title>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {versions?.length === 0 && (
        <Empty>
          No decision models. Add some under <code>decisions.models</code> in the configuration.
        </Empty>
      )}
      {groupsOf(versions ?? []).map(([origin, own]) => (
        <section key={origin} class="stack" aria-labelledby={`of-${origin}`}>
          <h2 id={`of-${origin}`} class="long">
            {own.find(({ id }) => id === origin)?.name ?? origin}
          </h2>
          <Versions versions={own} />
        </section>
      ))}
    </>
  );
}

/** Versions of one entry of the configuration are grouped, newest first. */
function groupsOf(versions: readonly DecisionVersionRow[]): [string, DecisionVersionRow[]][] {
  const groups = new Map<string, DecisionVersionRow[]>();
  for (const version of versions) groups.set(version.origin, [version, ...(groups.get(version.origin) ?? [])]);
  return [...groups];
}

function Versions({ versions }: { versions: readonly DecisionVersionRow[] }) {
  return <Table caption="Versions" rows={versions} keyOf={({ id }) => id} columns={COLUMNS} />;
}

const COLUMNS: readonly Column<DecisionVersionRow>[] = [
  {
    head: "Version",
    class: "long",
    cell: (version) => (
      <>
        <a href={hrefOf(`/admin/decisions/${encodeURIComponent(version.id)}`)}>{version.id}</a>{" "}
        <VersionState of={version} />
      </>
    ),
  },
  {
    head: "Aliases",
    cell: ({ aliases }) =>
      aliases.length === 0 ? (
        "–"
      ) : (
        <span class="badges">
          {aliases.map((alias) => (
            <Badge key={alias} kind="info">
              {alias}
            </Badge>
          ))}
        </span>
      ),
  },
  { head: "Backend", cell: ({ backend }) => backend },
  {
    head: "Answered by",
    class: "long",
    cell: ({ routes }) => routes.map(({ provider, model }) => `${provider}/${model}`).join(", "),
  },
  { head: "Plan", cell: ({ tier }) => <span class="capital">{tier}</span> },
  {
    head: "Accuracy",
    class: "number",
    cell: ({ measured }) => (measured === null ? "–" : percent(measured.accuracy)),
  },
  {
    head: "Log-loss",
    class: "number",
    cell: ({ measured }) => (measured === null ? "–" : measured.log_loss.toFixed(4)),
  },
  { head: "ECE", class: "number", cell: ({ measured }) => (measured === null ? "–" : percent(measured.ece)) },
];

const CALIBRATIONS = { none: "Not calibrated", prior: "Corrected by a prior", fitted: "Calibrated" } as const;

/** Short labels for conditions that an operator should know. */
export function VersionState({ of: version }: { of: DecisionVersionRow }) {
  return (
    <span class="badges">
      {version.unfit === null ? <Badge kind="ok">Listed</Badge> : <Badge kind="danger">Taken out</Badge>}
      <Badge>{CALIBRATIONS[version.calibration]}</Badge>
      {version.outdated && <Badge kind="warn">Outdated</Badge>}
      {version.drifted && <Badge kind="warn">Drifted</Badge>}
      {version.worse !== null && <Badge kind="warn">Worse than before</Badge>}
    </span>
  );
}
