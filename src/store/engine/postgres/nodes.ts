// The programs that share one database. A node holds its name with a lock of its connection. The server frees the lock
// when the connection ends, in whatever way, so that no lock is ever stale. The time when a node was last seen is
// stored for the others.

import { hostname } from "node:os";
import { VERSION } from "../../../base/version.ts";
import type { Store } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { KNOWN_STEPS, NODE_GONE_MS } from "./migrate.ts";
import type { PostgresStore } from "./open.ts";
import { openStanding, type Standing } from "./standing.ts";

/** How a node joins. */
export interface JoinOptions {
  readonly url: string;
  /** Empty: the host's name with the first free number. */
  readonly name: string;
  /** No other node may run, since without shared limits each node would admit the full limits. */
  readonly alone: boolean;
  /** How long a statement waits for its result. */
  readonly waitMs?: number;
  readonly problem: (message: string, error: unknown) => void;
}

/** A node that holds its name. */
export interface NodePlace {
  readonly name: string;
  /** Records that the node is running, now and at intervals. */
  appear(store: Store): Promise<void>;
  /** The number of nodes that were seen recently, including this one. */
  live(): number;
  /** False while another node may have taken the name, because the connection was lost and is not restored. */
  holds(): boolean;
  /** Tells the others that this node is stopping. The name stays taken until `leave`. */
  announceLeaving(): void;
  leave(): Promise<void>;
}

/** A node that was seen recently. */
export interface LiveNode {
  readonly name: string;
  readonly version: string;
  readonly started_at: number;
}

/** The first part of the key of every lock. */
const LOCKS = 725_501;
/** The lock that every node takes: exclusively if it must be alone, otherwise shared. */
const EVERY_NODE = 0;
/** A third of the time after which a node counts as gone. */
const BEAT_MS = 5000;
/** The limit of nodes on one host. */
const NUMBERS_MAX = 100;
/** The server needs some time to notice a lost connection, so a program that restarts tries again. */
const RETRY_MS = 1000;

/** Takes a name. Throws StoreError if another node has it, or if this node must be alone and is not. */
export async function joinNodes({ url, name, alone, waitMs, problem }: JoinOptions): Promise<NodePlace> {
  const connection = { lost: (): void => undefined };
  const standing = openStanding({ url, name: "sallyport node", deadlineMs: waitMs, lost: () => connection.lost() });
  const { sql } = standing;
  const take = async (kind: "" | "_shared", lock: number): Promise<boolean> => {
    const [row] = await sql.unsafe(`SELECT pg_try_advisory_lock${kind}(${LOCKS}, ${lock}) AS taken`);
    return row?.["taken"] === true;
  };
  const takeName = async (wanted: string): Promise<boolean> => take("", lockOf(wanted));
  try {
    if (!(await take(alone ? "" : "_shared", EVERY_NODE))) throw new StoreError(alone ? NOT_ALONE : OTHER_ALONE);
    const held = await firstFree(name, takeName);
    const session = await sessionOf(standing);
    return place({ standing, session, name: held, alone, problem, take, connection });
  } catch (error) {
    await standing.close();
    if (error instanceof StoreError) throw error;
    throw new StoreError(`The database of database.url cannot be reached: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

const NOT_ALONE =
  "Another node serves from this database, and redis.url is empty: nodes share their limits through Redis. Set redis.url on every node, or stop the other node.";
const OTHER_ALONE = "A node without redis.url serves from this database. Set redis.url there too, or stop it.";

async function firstFree(name: string, takeName: (wanted: string) => Promise<boolean>): Promise<string> {
  if (name !== "") {
    if (await takeName(name)) return name;
    throw new StoreError(`A node named ${JSON.stringify(name)} is already running. Give each node its own node.name.`);
  }
  for (let number = 1; number <= NUMBERS_MAX; number++) {
    const wanted = `${hostname()}-${number}`;
    if (await takeName(wanted)) return wanted;
  }
  throw new StoreError(`${NUMBERS_MAX} nodes are already running on this host. Set node.name to start another one.`);
}

/** A connection as the server knows it. */
interface Session {
  readonly pid: number;
  readonly started: string;
}

function isSame(one: Session, other: Session): boolean {
  return one.pid === other.pid && one.started === other.started;
}

async function sessionOf({ sql }: Standing): Promise<Session> {
  const [row] = await sql.unsafe(
    "SELECT pid, backend_start::text AS started FROM pg_stat_activity WHERE pid = pg_backend_pid()",
  );
  return { pid: Number(row?.["pid"]), started: String(row?.["started"]) };
}

/**
 * Ends the connection that was lost. The server may not know that it was, as when a proxy keeps its side open: it would keep
 * the locks, so that the node could never take its own name again.
 */
async function endSession({ sql }: Standing, { pid, started }: Session): Promise<void> {
  await sql.unsafe(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2",
    [pid, started],
  );
}

/** A number of 31 bits for a name. */
function lockOf(name: string): number {
  return Number(BigInt(Bun.hash(name)) % 2_147_483_646n) + 1;
}

interface Place extends Pick<JoinOptions, "name" | "alone" | "problem"> {
  readonly standing: Standing;
  readonly session: Session;
  take(kind: "" | "_shared", lock: number): Promise<boolean>;
  /** Called when the connection ends. */
  readonly connection: { lost: () => void };
}

function place({ standing, name, alone, problem, take, connection, ...opened }: Place): NodePlace {
  let { session } = opened;
  let holds = true;
  let hasLeft = false;
  let beat: ReturnType<typeof setInterval> | undefined;
  let own: Store | undefined;
  let beating: Promise<void> | undefined;
  let leaving: Promise<void> | undefined;
  let live = 1;
  const startedMs = () => own?.clock.now() ?? 0;

  const takeAgain = async (): Promise<void> => {
    const report = onceEach(problem);
    while (!hasLeft && !holds) {
      try {
        const own = await sessionOf(standing);
        if (!isSame(own, session)) await endSession(standing, session);
        const taken = (await take(alone ? "" : "_shared", EVERY_NODE)) && (await take("", lockOf(name)));
        // Locks of a connection that was lost meanwhile are lost too.
        const after = await sessionOf(standing);
        if (taken && isSame(after, own)) {
          session = own;
          holds = true;
        } else if (!taken) report("another node has taken the place of this one: stop one of them");
      } catch (error) {
        report("the node's connection to the database is lost; it is tried again", error);
      }
      if (!holds) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  };
  connection.lost = () => {
    if (hasLeft || !holds) return;
    holds = false;
    void takeAgain();
  };

  const announceLeaving = (): Promise<void> => {
    clearInterval(beat);
    leaving ??= (async () => {
      // A heartbeat that is on its way would write the row again.
      await beating;
      await own?.statement("DELETE FROM nodes WHERE name = ?").run([name]);
    })().catch((error: unknown) => problem("the node could not write that it leaves", error));
    return leaving;
  };

  return {
    name,
    live: () => live,
    holds: () => holds,
    async appear(store) {
      own = store;
      const started = startedMs();
      const seen = store.statement(
        `INSERT INTO nodes (name, version, url, started_at, seen_at, steps)
         VALUES ($name, $version, '', $started, $now, $steps)
         ON CONFLICT (name) DO UPDATE SET version = excluded.version, started_at = excluded.started_at,
           seen_at = excluded.seen_at, steps = excluded.steps`,
      );
      const steps = KNOWN_STEPS.join(" ");
      const write = async () => {
        // First, since the others judge by the time that is written.
        await store.compareClock();
        await seen.run({ name, version: VERSION, started, now: store.clock.now(), steps });
        live = Math.max(1, (await liveNodes(store)).length);
      };
      await write();
      beat = setInterval(() => {
        beating = write().catch((error: unknown) => problem("the node could not write that it is there", error));
      }, BEAT_MS);
    },
    announceLeaving,
    async leave() {
      hasLeft = true;
      await announceLeaving();
      await standing.close();
    },
  };
}

/** Reports a message again only after another one. */
function onceEach(problem: JoinOptions["problem"]): (message: string, error?: unknown) => void {
  let reported = "";
  return (message, error) => {
    if (message !== reported) problem(message, error);
    reported = message;
  };
}

/** Throws StoreError while a node uses the database. */
export async function requireNoNode({ pool }: PostgresStore): Promise<void> {
  const { values } = await pool.query(`SELECT pg_try_advisory_xact_lock(${LOCKS}, ${EVERY_NODE})`, []);
  if (values[0]?.[0] !== true) throw new StoreError("A node is using that database. Stop it first.");
}

/** The nodes that were seen recently. */
export async function liveNodes(store: Store): Promise<LiveNode[]> {
  const since = store.clock.now() - NODE_GONE_MS;
  return store
    .statement<LiveNode>("SELECT name, version, started_at FROM nodes WHERE seen_at > ? ORDER BY name")
    .all([since]);
}
