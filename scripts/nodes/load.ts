// The load: chats, streams and decisions on every node that a load balancer would choose; crawls that are read on
// another node than the one on which they were started; and sign-ins whose sessions are used on another node.

import type { FakeSite } from "../../test/support/fake-site.ts";
import { ask, type Key } from "./client.ts";
import type { TrialNode } from "./cluster.ts";
import type { Entry, Journal } from "./journal.ts";

export interface LoadDeps {
  readonly nodes: readonly TrialNode[];
  readonly journal: Journal;
  readonly key: Key;
  readonly site: FakeSite;
  readonly sitePages: readonly string[];
  readonly person: { readonly email: string; readonly password: string };
}

/** Problems that the load found and that are not in the journal. */
export interface Load {
  readonly problems: string[];
  readonly counts: { crawls: number; signIns: number };
  /** Stops the load and waits for requests in progress. */
  stop(): Promise<void>;
}

const CLIENTS = 12;
const KINDS: readonly Entry["kind"][] = ["chat", "stream", "decision", "chat", "stream"];
const PAUSE_MS = 15;
const SIGN_IN_PAUSE_MS = 1000;
const READY_PAUSE_MS = 100;
const READY_MS_MAX = 2000;
const ANSWER_MS_MAX = 20_000;
/** After a node was killed, another node continues its crawl when the lease has expired. */
const CRAWL_MS_MAX = 120_000;

/** Starts the load. */
export function startLoad(deps: LoadDeps): Load {
  const { nodes, journal, key } = deps;
  let running = true;
  const problems: string[] = [];
  const counts = { crawls: 0, signIns: 0 };
  const going = () => running;

  const client = async (number: number) => {
    for (let turn = number; running; turn++) {
      const node = choose(nodes);
      if (node !== undefined) await ask(journal, node, { kind: KINDS[turn % KINDS.length] ?? "chat", key });
      await Bun.sleep(PAUSE_MS);
    }
  };
  const work = [
    ...nodes.map((node) => watchReadiness(node, going)),
    ...Array.from({ length: CLIENTS }, (_, number) => client(number)),
    repeat(going, 300, async () => {
      const problem = await crawlOnce(deps).catch(String);
      if (problem === undefined) counts.crawls += 1;
      else problems.push(problem);
    }),
    repeat(going, SIGN_IN_PAUSE_MS, async () => {
      const fromMs = performance.now();
      const problem = await signInOnce(deps).catch(String);
      if (problem !== undefined && journal.isFaulty(fromMs, performance.now())) return;
      if (problem === undefined) counts.signIns += 1;
      else problems.push(problem);
    }),
  ];
  return {
    ...{ problems, counts },
    async stop() {
      running = false;
      await Promise.all(work);
    },
  };
}

/** Chooses a node as a load balancer does; if no node is ready, any node. */
export function choose(nodes: readonly TrialNode[]): TrialNode | undefined {
  const ready = nodes.filter((node) => node.ready);
  const among = ready.length > 0 ? ready : nodes;
  return among[Math.floor(Math.random() * among.length)];
}

async function repeat(going: () => boolean, pauseMs: number, work: () => Promise<void>): Promise<void> {
  while (going()) {
    await work();
    if (going()) await Bun.sleep(pauseMs);
  }
}

async function watchReadiness(node: TrialNode, going: () => boolean): Promise<void> {
  while (going()) {
    node.ready = await fetch(`${node.url}/readyz`, { signal: AbortSignal.timeout(READY_MS_MAX) }).then(
      ({ status }) => status === 200,
      () => false,
    );
    await Bun.sleep(READY_PAUSE_MS);
  }
}

/** Repeats a request, on another node if there is one, until it succeeds, as a patient client does. */
async function patiently({ nodes, journal }: LoadDeps, path: string, init: RequestInit = {}): Promise<Response> {
  for (const untilMs = performance.now() + CRAWL_MS_MAX; ; await Bun.sleep(READY_PAUSE_MS)) {
    const node = choose(nodes);
    const fromMs = performance.now();
    let problem: string;
    try {
      const response = await fetch(`${node?.url}${path}`, { ...init, signal: AbortSignal.timeout(ANSWER_MS_MAX) });
      if (response.status < 500) return response;
      problem = `${response.status} ${await response.text()}`;
    } catch (error) {
      problem = String(error);
    }
    const nowMs = performance.now();
    if (nowMs > untilMs || !journal.isFaulty(fromMs, nowMs)) throw new Error(`${path} on ${node?.name}: ${problem}`);
  }
}

interface Crawl {
  status: string;
  data: { metadata: { sourceURL: string } }[];
  errors: { url: string; code: string }[];
}

/** Runs a whole crawl and returns its problem, if there is one. */
async function crawlOnce(deps: LoadDeps): Promise<string | undefined> {
  const { key, site, sitePages } = deps;
  const headers = { authorization: `Bearer ${key.text}`, "content-type": "application/json" };
  const body = JSON.stringify({ url: `${site.url}/`, limit: sitePages.length + 10 });
  const started = await patiently(deps, "/v1/crawl", { method: "POST", headers, body });
  if (started.status !== 200)
    return `a crawl was not started: ${started.status} ${(await started.text()).slice(0, 200)}`;
  const { id } = (await started.json()) as { id: string };
  for (const untilMs = performance.now() + CRAWL_MS_MAX; performance.now() < untilMs; await Bun.sleep(100)) {
    const response = await patiently(deps, `/v1/crawl/${id}`, { headers });
    if (response.status !== 200) return `crawl ${id}: ${response.status} ${(await response.text()).slice(0, 200)}`;
    const { status, data, errors } = (await response.json()) as Crawl;
    if (status === "scraping") continue;
    if (status !== "completed") return `crawl ${id} ended as ${status}`;
    const paths = data.map(({ metadata }) => new URL(metadata.sourceURL).pathname).sort();
    if (errors.length > 0) return `crawl ${id}: ${JSON.stringify(errors).slice(0, 300)}`;
    return paths.join() === [...sitePages].sort().join() ? undefined : `crawl ${id} has the pages ${paths.join()}`;
  }
  return `crawl ${id} did not end`;
}

/** Signs in on one node and uses the session on another; returns the problem, if there is one. */
async function signInOnce({ nodes, person }: LoadDeps): Promise<string | undefined> {
  const [node, other] = [choose(nodes), choose(nodes)];
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  const answer = await fetch(`${node?.url}/dashboard/api/login`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: node?.url ?? "" },
    body: JSON.stringify({ username_or_email: person.email, password: person.password }),
    signal,
  });
  const text = await answer.text();
  if (answer.status !== 200) return `a sign-in on ${node?.name}: ${answer.status} ${text.slice(0, 200)}`;
  const [cookie = ""] = (answer.headers.get("set-cookie") ?? "").split(";");
  const session = await fetch(`${other?.url}/dashboard/api/session`, { headers: { cookie }, signal });
  const known = await session.text();
  return known.includes(person.email) ? undefined : `${other?.name} does not know a session: ${known.slice(0, 200)}`;
}
