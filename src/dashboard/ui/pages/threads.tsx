// The account's stored conversations: their sizes and, when one is opened, its messages.

import type { Listing } from "../../contract.ts";
import type { ThreadKind, ThreadRow, ThreadView } from "../../contract-threads.ts";
import { call } from "../api.ts";
import { useLoad } from "../load.ts";
import { confirmed } from "../parts/confirm.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { Badge, Empty, Notice, say } from "../parts/notice.tsx";
import { Table } from "../parts/table.tsx";
import { formatBytes, short, When } from "../parts/time.tsx";
import { Title } from "../parts/title.tsx";
import { hrefOf, navigate, path } from "../router.ts";

const KINDS: Readonly<Record<ThreadKind, string>> = {
  thread: "Thread",
  conversation: "Conversation",
  messages: "Messages thread",
};

const addressOf = ({ kind, id }: { kind: ThreadKind; id: string }) => `/threads/${kind}/${encodeURIComponent(id)}`;

async function removeThread(thread: { kind: ThreadKind; id: string }, afterwards: () => void): Promise<void> {
  const question = {
    title: "Delete this conversation?",
    text: `“${thread.id}”, its messages and summaries are deleted permanently. A client that continues it receives 404.`,
    action: "Delete conversation",
  };
  if (!(await confirmed(question))) return;
  try {
    await call("DELETE", addressOf(thread));
    say("The conversation is deleted.");
    afterwards();
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), "danger");
  }
}

export function ThreadsPage() {
  const { value, problem, reload } = useLoad<Listing<ThreadRow>>("/threads");
  const rows = value.value?.data;
  const bytes = rows?.reduce((sum, row) => sum + row.bytes, 0) ?? 0;
  return (
    <>
      <Title>Threads</Title>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {rows?.length === 0 && (
        <Empty>
          No conversations are stored. One is stored when a request names a <code>thread_id</code>, a conversation of
          the Responses API or a thread of the Messages API.
        </Empty>
      )}
      {rows !== undefined && rows.length > 0 && (
        <>
          <p class="hint">
            {rows.length === 1 ? "1 conversation" : `${rows.length} conversations`}, {formatBytes(bytes)} of your
            storage
          </p>
          <ThreadTable rows={rows} changed={reload} />
        </>
      )}
    </>
  );
}

function ThreadTable({ rows, changed }: { rows: readonly ThreadRow[]; changed: () => Promise<void> }) {
  return (
    <Table
      caption="Conversations"
      rows={rows}
      keyOf={(row) => `${row.kind}/${row.id}`}
      columns={[
        { head: "Conversation", class: "long", cell: (row) => <a href={hrefOf(addressOf(row))}>{row.id}</a> },
        { head: "Kind", cell: ({ kind }) => KINDS[kind] },
        { head: "Model", class: "long", cell: ({ model }) => model || "–" },
        { head: "Messages", class: "number", cell: ({ messages }) => short(messages) },
        { head: "Tokens", class: "number", cell: ({ tokens }) => short(tokens) },
        { head: "Size", class: "number", cell: ({ bytes }) => formatBytes(bytes) },
        { head: "Last used", cell: ({ updated_at: at }) => <When iso={at} /> },
        {
          head: "Actions",
          actions: true,
          cell: (row) => (
            <button
              type="button"
              class="quiet danger"
              aria-label={`Delete ${row.id}`}
              onClick={() => removeThread(row, () => void changed())}
            >
              Delete
            </button>
          ),
        },
      ]}
    />
  );
}

/** One conversation with its messages. */
export function OneThreadPage() {
  const [, , kind = "thread", id = ""] = path.value.split("/");
  const thread = { kind: kind as ThreadKind, id: nameOf(id) };
  const { value, problem } = useLoad<ThreadView>(addressOf(thread));
  const view = value.value;
  const actions = (
    <div class="row">
      <a class="button" href={hrefOf("/threads")}>
        All threads
      </a>
      {view !== undefined && (
        <button type="button" class="danger" onClick={() => removeThread(thread, () => navigate("/threads"))}>
          Delete
        </button>
      )}
    </div>
  );
  return (
    <>
      <Title actions={actions}>{KINDS[thread.kind] ?? "Thread"}</Title>
      <p class="long">
        <code>{thread.id}</code>
      </p>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {view !== undefined && <Said thread={view} />}
    </>
  );
}

/** A name decoded from the path; an invalid encoding is used unchanged. */
function nameOf(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function Said({ thread: { messages, summaries } }: { thread: ThreadView }) {
  return (
    <>
      {summaries.length > 0 && (
        <section class="page" aria-labelledby="summaries">
          <h2 id="summaries">
            {summaries.length === 1 ? "1 summary" : `${summaries.length} summaries`} of what was said before
          </h2>
          {summaries.map(({ created_at, tokens, text }, index) => (
            <details key={index}>
              <summary>
                <When iso={created_at} /> <small>{short(tokens)} tokens</small>
              </summary>
              <div class="card">
                <Markdown text={text} />
              </div>
            </details>
          ))}
        </section>
      )}
      <h2>{messages.length === 1 ? "1 message" : `${messages.length} messages`}</h2>
      {messages.length === 0 ? (
        <Empty>No messages yet.</Empty>
      ) : (
        <ol class="turns">
          {messages.map(({ role, text }, index) => (
            <li key={index}>
              {role === "user" ? (
                <p class="said user">{text}</p>
              ) : (
                <div class="said reply">
                  {role !== "assistant" && <Badge>{role}</Badge>}
                  <Markdown text={text} />
                </div>
              )}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
