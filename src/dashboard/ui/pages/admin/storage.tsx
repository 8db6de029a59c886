// The storage of the gateway: sizes, the accounts that use most, and the retention periods.

import type { ComponentChildren } from "preact";
import type { StorageView } from "../../../contract-admin.ts";
import { useLoad } from "../../load.ts";
import { Badge, Empty, Notice } from "../../parts/notice.tsx";
import { formatBytes, lasting, short, When } from "../../parts/time.tsx";
import { Title } from "../../parts/title.tsx";
import { hrefOf } from "../../router.ts";

/** The page. */
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
    <div class="table-card">
      <table class="stacks">
        <thead>
          <tr>
            <th>What</th>
            <th>Kept for</th>
            <th>Set by</th>
          </tr>
        </thead>
        <tbody>
          {retention.map(({ what, kept_ms: keptMs, key }) => (
            <tr key={what}>
              <th scope="row">{what}</th>
              <td data-label="Kept for">{lasting(keptMs / 1000).replace(/ 0 \w+$/, "")}</td>
              <td data-label="Set by">{key === null ? "Fixed" : <code>{key}</code>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ByAccount({ storage: { accounts, limit_bytes: limit } }: { storage: StorageView }) {
  if (accounts.length === 0) return <Empty>No account stores responses, threads, files or jobs.</Empty>;
  return (
    <div class="table-card">
      <table class="stacks">
        <thead>
          <tr>
            <th>Account</th>
            <th class="number">Keeps</th>
            <th class="number">Of {formatBytes(limit)}</th>
          </tr>
        </thead>
        <tbody>
          {accounts.map(({ id, username, bytes }) => (
            <tr key={id}>
              <th scope="row" class="long">
                <a href={hrefOf(`/admin/accounts/${id}`)}>{username}</a>
              </th>
              <td data-label="Keeps" class="number">
                {formatBytes(bytes)}
              </td>
              <td data-label="Share of the limit" class="number">
                {((bytes / limit) * 100).toFixed(1)} %
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
