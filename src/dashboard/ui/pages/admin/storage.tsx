// The storage of the gateway: sizes, the accounts that use most, and the retention periods.

import type { ComponentChildren } from "preact";
import type { StorageView } from "../../../contract-admin.ts";
import { useLoad } from "../../load.ts";
import { Badge, Notice } from "../../parts/notice.tsx";
import { Table } from "../../parts/table.tsx";
import { formatBytes, lasting, short, When } from "../../parts/time.tsx";
import { Title } from "../../parts/title.tsx";
import { hrefOf } from "../../router.ts";

export function StoragePage() {
  const { value, problem } = useLoad<StorageView>("/admin/storage");
  const storage = value.value;
  return (
    <>
      <Title>Storage</Title>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {storage !== undefined && (
        <>
          <Sizes storage={storage} />
          <Section id="retention" title="Retention">
            <Retention storage={storage} />
          </Section>
          <Section id="by-account" title="By account">
            <ByAccount storage={storage} />
          </Section>
        </>
      )}
    </>
  );
}

function Section({ id, title, children }: { id: string; title: string; children: ComponentChildren }) {
  return (
    <section class="stack" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

function Sizes({ storage: { data_dir: dataDir, database, others, sweep } }: { storage: StorageView }) {
  return (
    <section class="card" aria-label="Sizes">
      <dl class="facts">
        <dt>Data directory</dt>
        <dd>
          <code>{dataDir}</code>
        </dd>
        <dt>Database</dt>
        <dd>
          {formatBytes(database.bytes)} ({formatBytes(database.free_bytes)} reclaimable), WAL{" "}
          {formatBytes(database.log_bytes)}
        </dd>
        {others.map(({ name, bytes, files }) => (
          <FolderSize key={name} name={name} bytes={bytes} files={files} />
        ))}
        <dt>Last clean-up</dt>
        <dd>
          {sweep === null ? (
            "None yet; it runs every minute"
          ) : (
            <span>
              <When iso={sweep.at} />, {short(sweep.deleted)} {sweep.deleted === 1 ? "row" : "rows"} deleted{" "}
              {sweep.failed > 0 && <Badge kind="danger">{sweep.failed} failed: see the log</Badge>}
            </span>
          )}
        </dd>
      </dl>
      <p class="hint">
        Back up with <code>sallyport backup FILE.tar</code> while the gateway runs: a copy of the file alone is not
        enough.
      </p>
    </section>
  );
}

function FolderSize({ name, bytes, files }: StorageView["others"][number]) {
  return (
    <>
      <dt>
        <code>{name}</code>
      </dt>
      <dd>
        {formatBytes(bytes)}
        {name.endsWith("/") && `, ${short(files)} ${files === 1 ? "file" : "files"}`}
      </dd>
    </>
  );
}

function Retention({ storage: { retention } }: { storage: StorageView }) {
  return (
    <Table
      caption="How long data is kept"
      rows={retention}
      keyOf={({ what }) => what}
      columns={[
        { head: "What", cell: ({ what }) => what },
        { head: "Kept for", cell: ({ kept_ms: keptMs }) => lasting(keptMs / 1000).replace(/ 0 \w+$/, "") },
        { head: "Set by", cell: ({ key }) => (key === null ? "Fixed" : <code>{key}</code>) },
      ]}
    />
  );
}

function ByAccount({ storage: { accounts, limit_bytes: limit } }: { storage: StorageView }) {
  return (
    <Table
      caption="Storage by account"
      rows={accounts}
      keyOf={({ id }) => id}
      empty="No account stores responses, threads, files or jobs."
      columns={[
        {
          head: "Account",
          class: "long",
          cell: ({ id, username }) => <a href={hrefOf(`/admin/accounts/${id}`)}>{username}</a>,
        },
        { head: "Stored", class: "number", cell: ({ bytes }) => formatBytes(bytes) },
        {
          head: `Of ${formatBytes(limit)}`,
          label: "Share of the limit",
          class: "number",
          cell: ({ bytes }) => `${((bytes / limit) * 100).toFixed(1)} %`,
        },
      ]}
    />
  );
}
