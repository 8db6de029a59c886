import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import { type JobKind, JobTimeout, type RunningJob } from "../../src/jobs/kind.ts";
import { type ClaimedJob, createJobRunner, type JobClaims, type JobRunner } from "../../src/jobs/runner.ts";
import { type JobLease, JobLost } from "../../src/store/work/job-hold.ts";

interface Row extends ClaimedJob {
  state: "queued" | "running" | "completed" | "failed" | "cancelled";
  owner?: string;
  /** Its lease has ended. */
  lapsed?: boolean;
  error?: unknown;
  progress: Readonly<Record<string, unknown>>;
}

let rows: Row[];
let runners: JobRunner[];
let claims = 0;
/** Tells runners that a job has ended elsewhere. */
let tell: ((id: string) => void)[];
const clock = new FakeClock();
beforeEach(() => {
  rows = [];
  runners = [];
  tell = [];
});
afterEach(async () => {
  for (const runner of runners) await runner.stop();
});

const heldRow = (job: JobLease) =>
  rows.find(({ id, lease, state }) => id === job.id && lease === job.lease && state === "running");

const store: JobClaims = {
  claimJob: async ({ owner, kinds }) => {
    const next = rows.find((row) => (row.state === "queued" || row.lapsed === true) && kinds.includes(row.kind));
    if (next === undefined) return undefined;
    Object.assign(next, { state: "running", lapsed: false, owner, lease: `lease ${++claims}` });
    return { ...next };
  },
  renewJob: async (job) => heldRow(job) !== undefined,
  heldJobs: async (owner) => rows.filter((row) => row.owner === owner && row.state === "running"),
  releaseJob: async (job) => {
    const row = heldRow(job);
    if (row !== undefined) row.state = "queued";
    return row !== undefined;
  },
  releaseJobs: async (owner) => {
    const own = rows.filter((row) => row.owner === owner && row.state === "running");
    for (const row of own) row.state = "queued";
    return own.length;
  },
  saveProgress: async (job, progress) => {
    const row = heldRow(job);
    if (row !== undefined) row.progress = progress;
    return row !== undefined;
  },
  finishJob: async (job, { state, error }) => {
    const row = heldRow(job);
    if (row !== undefined) Object.assign(row, { state, error });
    return row !== undefined;
  },
};

function queue(id: string, limitMs = 60_000): void {
  const nowMs = clock.now();
  rows.push({
    id,
    lease: "",
    kind: "work",
    accountId: "a",
    input: {},
    progress: {},
    createdAtMs: nowMs,
    deadlineAtMs: nowMs + limitMs,
    state: "queued",
  });
}

function start(run: JobKind["run"], owner = "one"): JobRunner {
  const runner = create(run, owner);
  runner.start();
  return runner;
}

function create(run: JobKind["run"], owner: string): JobRunner {
  const kind: JobKind = {
    name: "work",
    run,
    failure: (error) => ({ code: error instanceof JobTimeout ? "timeout" : "broken", message: String(error) }),
  };
  const runner = createJobRunner({
    ...{ store, kinds: [kind], clock, owner },
    ttlMs: () => 1000,
    whenJobEnds: (listener) => void tell.push(listener),
    problem: () => undefined,
  });
  runners.push(runner);
  return runner;
}
const never = (_job: RunningJob, signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

describe("jobs end", () => {
  test("by themselves", async () => {
    queue("1");
    const runner = start(async () => ({ state: "completed" }));
    await runner.settled("1", 5000);
    expect(rows[0]?.state).toBe("completed");
  });
  test("by failing", async () => {
    queue("1");
    const runner = start(async () => {
      throw new Error("oh");
    });
    await runner.settled("1", 5000);
    expect([rows[0]?.state, rows[0]?.error]).toEqual(["failed", { code: "broken", message: "Error: oh" }]);
  });
  test("at their hard limit", async () => {
    queue("1", 20);
    const runner = start(never);
    await runner.settled("1", 5000);
    expect([rows[0]?.state, rows[0]?.error]).toEqual(["failed", expect.objectContaining({ code: "timeout" })]);
  });
  test("when cancelled, without overwriting the cancellation", async () => {
    queue("1");
    const begun = Promise.withResolvers<void>();
    const runner = start((job, signal) => {
      begun.resolve();
      return never(job, signal);
    });
    await begun.promise;
    (rows[0] as Row).state = "cancelled";
    runner.cancel("1");
    await runner.settled("1", 5000);
    expect(rows[0]?.state).toBe("cancelled");
  });
});

describe("a job that is not ours any more", () => {
  /** Runs a job until it is stopped; tells why. */
  async function stopped(lose: (row: Row) => void): Promise<unknown> {
    queue("1");
    const begun = Promise.withResolvers<void>();
    const reason = Promise.withResolvers<unknown>();
    const runner = start(async (job, signal) => {
      begun.resolve();
      return never(job, signal).catch((error: unknown) => {
        reason.resolve(error);
        throw error;
      });
    });
    await begun.promise;
    const row = rows[0] as Row;
    lose(row);
    const left = { ...row };
    const why = await reason.promise;
    await runner.settled("1", 5000);
    expect([rows[0], runner.running()]).toEqual([left, 0]);
    return why;
  }

  test("stops at once where another node tells that it has ended", async () => {
    const why = await stopped((row) => {
      row.state = "cancelled";
      for (const one of tell) one(row.id);
    });
    expect(String(why)).toContain("cancelled");
  });
  test.each<[string, (row: Row) => void]>([
    ["cancelled", (row) => void Object.assign(row, { state: "cancelled" })],
    ["claimed by another", (row) => void Object.assign(row, { owner: "two", lease: "another" })],
    ["claimed by a program of the same name", (row) => void Object.assign(row, { lease: "another" })],
  ])(
    "stops without a word when it was %s",
    async (_how, lose) => {
      expect(await stopped(lose)).toBeInstanceOf(JobLost);
    },
    20_000,
  );

  test("ends the worker that writes for it", async () => {
    queue("1");
    const wrote = Promise.withResolvers<unknown>();
    const runner = start(async (job, signal) => {
      Object.assign(rows[0] as Row, { owner: "two", lease: "another" });
      await job.saveProgress({ late: true }).catch((error: unknown) => {
        wrote.resolve([error instanceof JobLost, signal.aborted]);
        throw error;
      });
      return { state: "completed" };
    });
    expect(await wrote.promise).toEqual([true, true]);
    await runner.settled("1", 5000);
    expect(rows[0]).toMatchObject({ state: "running", owner: "two", progress: {} });
  });
});

test("a job whose lease ended while the program was stalled begins again when its first worker has stopped", async () => {
  queue("1");
  const begun = Promise.withResolvers<void>();
  const order: string[] = [];
  let first: RunningJob | undefined;
  const runner = start(async (job, signal) => {
    if (first !== undefined) {
      order.push("second begins");
      return { state: "completed" };
    }
    first = job;
    begun.resolve();
    return never(job, signal).finally(() => order.push("first stops"));
  });
  await begun.promise;
  (rows[0] as Row).lapsed = true;
  runner.wake();
  while (rows[0]?.state !== "completed") await runner.settled("1", 20);
  expect(order).toEqual(["first stops", "second begins"]);
  expect(await first?.saveProgress({ late: true }).catch((error: unknown) => error)).toBeInstanceOf(JobLost);
  expect(rows[0]?.progress).toEqual({});
});

test("a job that finds no room begins again when its lease has ended, not at once", async () => {
  queue("1");
  let runs = 0;
  const runner = start(async () => {
    runs += 1;
    if (runs < 50 && rows[0]?.progress["room"] === undefined)
      throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
    return { state: "completed" };
  });
  await runner.settled("1", 5000);
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  expect([runs, rows[0]?.state]).toEqual([1, "running"]);
  Object.assign(rows[0] as Row, { lapsed: true, progress: { room: true } });
  runner.wake();
  await runner.settled("1", 5000);
  expect([runs, rows[0]?.state]).toEqual([2, "completed"]);
});

test("a job that is queued before the runner starts runs once", async () => {
  let runs = 0;
  const runner = create(async (_job, signal) => {
    runs++;
    // Work that is still going on when the runner starts.
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    return { state: "completed" };
  }, "one");
  queue("1");
  runner.wake();
  // The store answers.
  for (let i = 0; i < 5; i++) await Promise.resolve();
  runner.start();
  while (rows[0]?.state !== "completed") await runner.settled("1", 20);
  expect(runs).toBe(1);
});

test("a stopping runner gives its jobs back, and another goes on from what was saved", async () => {
  queue("1");
  const saved = Promise.withResolvers<void>();
  const first = start(async (job, signal) => {
    await job.saveProgress({ step: 3 });
    saved.resolve();
    return never(job, signal);
  });
  await saved.promise;
  await first.stop();
  expect(rows[0]).toMatchObject({ state: "queued", progress: { step: 3 } });
  let seen: unknown;
  const second = start(async (job) => {
    seen = job.progress;
    return { state: "completed" };
  }, "two");
  await second.settled("1", 5000);
  expect([seen, rows[0]?.state]).toEqual([{ step: 3 }, "completed"]);
});

test("waiting for a job that goes on has an end", async () => {
  queue("1");
  const runner = start(never);
  await runner.settled("1", 10);
  expect(rows[0]?.state).toBe("running");
});
