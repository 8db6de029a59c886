// All versions of all decision models: aliases, measured quality and problems.

import type { DecisionVersionRow, Listing } from "../../../contract.ts";
import { useLoad } from "../../load.ts";
import { Badge, Empty, Notice } from "../../parts/notice.tsx";
import { percent } from "../../parts/time.tsx";
import { Title } from "../../parts/title.tsx";
import { hrefOf } from "../../router.ts";

/** The page. */
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
  return (
    <div class="table-card">
      <table class="stacks">
        <thead>
          <tr>
            <th>Version</th>
            <th>Aliases</th>
            <th>Backend</th>
            <th>Answered by</th>
            <th>Plan</th>
            <th class="number">Accuracy</th>
            <th class="number">Log-loss</th>
            <th class="number">ECE</th>
          </tr>
        </thead>
        <tbody>
          {versions.map((version) => (
            <tr key={version.id}>
              <th scope="row" class="long">
                <a href={hrefOf(`/admin/decisions/${encodeURIComponent(version.id)}`)}>{version.id}</a>{" "}
                <VersionState of={version} />
              </th>
              <td data-label="Aliases">
                <span class="badges">
                  {version.aliases.map((alias) => (
                    <Badge key={alias} kind="info">
                      {alias}
                    </Badge>
                  ))}
                  {version.aliases.length === 0 && "–"}
                </span>
              </td>
              <td data-label="Backend">{version.backend}</td>
              <td data-label="Answered by" class="long">
                {version.routes.map(({ provider, model }) => `${provider}/${model}`).join(", ")}
              </td>
              <td data-label="Plan">
                <span class="capital">{version.tier}</span>
              </td>
              <td data-label="Accuracy" class="number">
                {version.measured === null ? "–" : percent(version.measured.accuracy)}
              </td>
              <td data-label="Log-loss" class="number">
                {version.measured === null ? "–" : version.measured.log_loss.toFixed(4)}
              </td>
              <td data-label="ECE" class="number">
                {version.measured === null ? "–" : percent(version.measured.ece)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Short labels for conditions that an operator should know. */
export function VersionState({ of: version }: { of: DecisionVersionRow }) {
  return (
    <span class="badges">
      {version.unfit === null ? <Badge kind="ok">Listed</Badge> : <Badge kind="danger">Taken out</Badge>}
      {version.calibration === "fitted" ? <Badge>Calibrated</Badge> : <Badge>Not calibrated</Badge>}
      {version.outdated && <Badge kind="warn">Outdated</Badge>}
      {version.drifted && <Badge kind="warn">Drifted</Badge>}
      {version.worse !== null && <Badge kind="warn">Worse than before</Badge>}
    </span>
  );
}
