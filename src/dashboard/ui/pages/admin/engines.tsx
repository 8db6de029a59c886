// The search engines: which are in use, which are paused until when, their last error, and a test of each.

import type { Listing } from "../../../contract.ts";
import type { EngineView } from "../../../contract-admin.ts";
import { useLoad } from "../../load.ts";
import { Badge, Empty, Notice } from "../../parts/notice.tsx";
import { choose } from "../../parts/span.tsx";
import { TestButton, TestResult, useTest } from "../../parts/tested.tsx";
import { When } from "../../parts/time.tsx";
import { Title } from "../../parts/title.tsx";
import { query } from "../../router.ts";

/** The page. */
export function EnginesPage() {
  const { value, problem, reload } = useLoad<Listing<EngineView>>("/admin/engines");
  const all = value.value?.data;
  const category = query.value.get("category") ?? "";
  const categories = [...new Set(all?.flatMap((engine) => engine.categories) ?? [])];
  const shown = all?.filter((engine) => category === "" || engine.categories.includes(category));
  const running = shown?.filter(({ off }) => off === null) ?? [];
  const off = Map.groupBy(shown?.filter((engine) => engine.off !== null) ?? [], (engine) => engine.off ?? "");
  return (
    <>
      <Title>Search engines</Title>
      <div class="field narrow">
        <label for="category">Category</label>
        <select id="category" value={category} onChange={(event) => choose({ category: event.currentTarget.value })}>
          <option value="">All</option>
          {categories.map((one) => (
            <option key={one} value={one} selected={one === category}>
              {one}
            </option>
          ))}
        </select>
      </div>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {all !== undefined && running.length === 0 && <Empty>No search engine is enabled.</Empty>}
      {running.length > 0 && (
        <div class="table-card">
          <table class="stacks">
            <thead>
              <tr>
                <th>Engine</th>
                <th>Searches</th>
                <th>State</th>
                <th>Last answer</th>
                <th>
                  <span class="off-screen">Test</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {running.map((engine) => (
                <Engine key={engine.name} engine={engine} changed={reload} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {[...off].map(([why, engines]) => (
        <section class="card" key={why} aria-label={`Not used: ${why}`}>
          <h2>Not asked: {why}</h2>
          <p>{engines.map(({ name }) => name).join(", ")}</p>
        </section>
      ))}
    </>
  );
}

function Engine({ engine, changed }: { engine: EngineView; changed: () => Promise<void> }) {
  const test = useTest(`/admin/engines/${encodeURIComponent(engine.name)}/test`, () => void changed());
  const { name, categories, suspended, last_error: error, failing_since: since, last_ok_at: lastOk } = engine;
  return (
    <tr>
      <th scope="row" class="long">
        {name}
        <TestResult test={test} />
      </th>
      <td data-label="Searches">{categories.join(", ")}</td>
      <td data-label="State">
        <span>
          {suspended !== null ? (
            <>
              <Badge kind="warn">Suspended: {suspended.kind}</Badge> <When iso={suspended.until} />
            </>
          ) : since !== null ? (
            <Badge kind="danger">Failing</Badge>
          ) : lastOk === null ? (
            <Badge>Not used yet</Badge>
          ) : (
            <Badge kind="ok">OK</Badge>
          )}
          {error !== null && (suspended !== null || since !== null) && (
            <p class="hint">
              {error.kind}: {error.message} · <When iso={error.at} />
            </p>
          )}
        </span>
      </td>
      <td data-label="Last answer">{lastOk === null ? "None" : <When iso={lastOk} />}</td>
      <td class="actions">
        <TestButton test={test} of={name} />
      </td>
    </tr>
  );
}
