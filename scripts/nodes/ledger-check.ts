// Compares the recorded usage with the answers that clients received: every complete answer is recorded once, with the
// provider's charge, and nothing else is charged.

import postgres from "postgres";
import type { TrialNode } from "./cluster.ts";
import type { Entry, Journal } from "./journal.ts";

/** Clients receive answers in another order than their node records them. */
const DISORDER_MAX = 50;

export interface LedgerCheck {
  readonly problems: string[];
  /** The answers that a killed node did not record, and how many of them are allowed. */
  readonly lost: number;
  readonly most: number;
  readonly rows: number;
}

interface Row {
  readonly request_id: string;
  readonly status: number;
  readonly input: number;
  readonly output: number;
  readonly repeats: number;
}

interface Sums {
  count: number;
  input: number;
  output: number;
}

/** Reads the database. No node may be writing. */
export async function readBooks(url: string, journal: Journal, nodes: readonly TrialNode[]): Promise<LedgerCheck> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  try {
    const rows = await sql<Row[]>`SELECT request_id, status::INT, repeats::INT, input_tokens::INT AS input,
      output_tokens::INT AS output FROM usage WHERE endpoint IN ('/v1/chat/completions', '/v1/systemone')`;
    const { problems, ...losses } = compare(rows, journal, nodes);
    const [sums] = await sql`SELECT
      (SELECT SUM(repeats) = (SELECT SUM(requests) FROM usage_models) FROM usage WHERE model <> '') AS requests,
      (SELECT SUM(input_tokens + output_tokens) = (SELECT SUM(input_tokens + output_tokens) FROM usage_models) FROM usage)
        AS tokens,
      (SELECT SUM(cost_micros) = (SELECT SUM(spent_micros) FROM api_keys) AND SUM(cost_micros) > 0 FROM usage) AS cost,
      (SELECT SUM(cost_micros) = (SELECT SUM(cost_micros) FROM usage_accounts) FROM usage) AS accounts,
      (SELECT SUM(cost_micros) = (SELECT SUM(cost_micros) FROM usage_classes) FROM usage) AS classes`;
    for (const name of ["requests", "tokens", "cost", "accounts", "classes"]) {
      if (sums?.[name] !== true) problems.push(`the sums of ${name} differ from the rows`);
    }
    return { problems, ...losses, rows: rows.length };
  } finally {
    await sql.end();
  }
}

function compare(rows: readonly Row[], journal: Journal, nodes: readonly TrialNode[]) {
  const problems: string[] = [];
  let lost = 0;
  const charged = new Map<string, Sums>();
  for (const { request_id, status, input, output, repeats } of rows) {
    if (status === 200) add(charged, request_id, { count: repeats, input, output });
    else if (input + output > 0) problems.push(`a request that failed with ${status} was charged ${input} + ${output}`);
  }
  const { most, mayLack } = lossesOf(journal, nodes);
  const asked = Map.groupBy(journal.entries, ({ requestId }) => requestId);
  for (const [requestId, entries] of asked) {
    const had = sumOf(entries.filter(({ outcome }) => outcome === "whole"));
    // A client that received nothing does not know whether the provider had answered.
    const unknown = entries.filter(({ outcome }) => outcome === "none").length;
    const books = charged.get(requestId) ?? { count: 0, input: 0, output: 0 };
    const over = books.count - had.count;
    if (over > unknown) problems.push(`${requestId}: charged ${books.count} times for ${had.count} answers`);
    else if (over < 0) {
      const unwritten = entries.filter((entry) => mayLack.has(entry)).length;
      if (-over > unwritten) problems.push(`${requestId}: ${had.count} answers, ${books.count} in the books`);
      else lost += -over;
    } else if (over === 0 && (books.input !== had.input || books.output !== had.output))
      problems.push(`${requestId}: ${books.input} + ${books.output} in the books, not ${had.input} + ${had.output}`);
  }
  for (const requestId of charged.keys()) {
    if (!asked.has(requestId)) problems.push(`${requestId}: charged, but nobody asked`);
  }
  if (lost > most) problems.push(`${lost} answers are lost, ${most} may be`);
  return { problems, lost, most };
}

/**
 * The answers that killed nodes may lose: as many as were waiting to be written when the node last reported it, and all
 * later ones. Which ones they are is known except for their order.
 */
function lossesOf(journal: Journal, nodes: readonly TrialNode[]): { most: number; mayLack: ReadonlySet<Entry> } {
  let most = 0;
  const mayLack = new Set<Entry>();
  for (const { name, kills } of nodes) {
    for (const { atMs, saidMs, unwritten } of kills) {
      const before = journal.entries
        .filter(({ node, outcome, startMs }) => node === name && outcome === "whole" && startMs <= atMs)
        .sort((one, other) => one.endMs - other.endMs);
      const count = unwritten + before.filter(({ endMs }) => endMs >= saidMs).length;
      most += count;
      for (const entry of before.slice(-(count + DISORDER_MAX))) mayLack.add(entry);
    }
  }
  return { most, mayLack };
}

function add(sums: Map<string, Sums>, id: string, { count, input, output }: Sums): void {
  const sum = sums.get(id) ?? { count: 0, input: 0, output: 0 };
  sums.set(id, { count: sum.count + count, input: sum.input + input, output: sum.output + output });
}

function sumOf(entries: readonly Entry[]): Sums {
  const costs = entries.flatMap(({ cost }) => (cost === undefined ? [] : [cost]));
  return {
    count: entries.length,
    input: costs.reduce((sum, { input }) => sum + input, 0),
    output: costs.reduce((sum, { output }) => sum + output, 0),
  };
}
