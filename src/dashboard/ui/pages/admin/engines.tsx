// The search engines: which are in use, which are paused until when, their last error, and a test of each.

import type { Listing } from "../../../contract.ts";
import type { EngineView } from "../../../contract-admin.ts";
import { useLoad } from "../../load.ts";
import { Badge, Notice } from "../../parts/notice.tsx";
import { choose } from "../../parts/span.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { TestButton, TestResult, useTest } from "../../parts/tested.tsx";
import { When } from "../../parts/time.tsx";
import { Title } from "../../parts/title.tsx";
import { query } from "../../router.ts";

export function EnginesPage() {
  const { value, problem, reload } = useLoad<Listing<EngineView>>("/admin/engines");
  const engines = value.value?.data;
  const category = query.value.get("category") ?? "";
  const categories = [...new Set(engines?.flatMap((engine) => engine.categories) ?? [])];
  const shown = engines?.filter((engine) => category === "" || engine.categories.includes(category));
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
      <Table
        caption="Search engines"
        rows={engines === undefined ? undefined : running}
        keyOf={({ name }) => name}
        empty="No search engine is enabled."
        use={({ name }) => useTest(`/admin/engines/${encodeURIComponent(name)}/test`, () => void reload())}
        columns={COLUMNS}
      />
      {[...off].map(([why, engines]) => (
        <section class="card" key={why} aria-label={`Not used: ${why}`}>
          <h2>Not asked: {why}</h2>
          <p>{engines.map(({ name }) => name).join(", ")}</p>
        </section>
      ))}
    </>
  );
}

const COLUMNS: readonly Column<EngineView, ReturnType<typeof useTest>>[] = [
  {
    head: "Engine",
    class: "long",
    cell: ({ name }, test) => (
      <>
        {name}
        <TestResult test={test} />
      </>
    ),
  },
  { head: "Searches", cell: ({ categories }) => categories.join(", ") },
  { head: "State", cell: (engine) => <State of={engine} /> },
  { head: "Last answer", cell: ({ last_ok_at: at }) => (at === null ? "–" : <When iso={at} />) },
  { head: "Test", actions: true, cell: ({ name }, test) => <TestButton test={test} of={name} /> },
];

function State({ of: { suspended, last_error: error, failing_since: since, last_ok_at: lastOk } }: { of: EngineView }) {
  return (
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
  );
}
