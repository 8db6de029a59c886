import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import { type JobKind, JobTimeout, type RunningJob } from "../../src/jobs/kind.ts";
import { type ClaimedJob, createJobRunner, type JobClaims, type JobRunner } from "../../src/jobs/runner.ts";

interface Row extends ClaimedJob {
  state: "queued" | "running" | "completed" | "failed" | "cancelled";
  owner?: string;
  error?: unknown;
  progress: Readonly<Record<string, unknown>>;
}

let rows: Row[];
let runners: JobRunner[];
const clock = new FakeClock();
beforeEach(() => {
  rows = [];
  runners = [];
});
afterEach(async () => {
  for (const runner of runners) await runner.stop();
});

const store: JobClaims = {
  claimJob: async ({ owner, kinds }) => {
    const next = rows.find((row) => row.state === "queued" && kinds.includes(row.kind));
    if (next === undefined) return undefined;
    Object.assign(next, { state: "running", owner });
    return { ...next };
  },
  renewJob: async (id, owner) => rows.some((row) => row.id === id && row.owner === owner),
  releaseJobs: async (owner) => {
    const own = rows.filter((row) => row.owner === owner && row.state === "running");
    for (const row of own) row.state = "queued";
    return own.length;
  },
  saveProgress: async (id, owner, progress) => {
    const row = rows.find((each) => each.id === id && each.owner === owner && each.state === "running");
    if (row !== undefined) row.progress = progress;
    return row !== undefined;
  },
  finishJob: async (id, owner, { state, error }) => {
    const row = rows.find((each) => each.id === id && each.owner === owner && each.state === "running");
    if (row !== undefined) Object.assign(row, { state, error });
    return row !== undefined;
  },
};

function queue(id: string, limitMs = 60_000): void {
  const nowMs = clock.now();
  rows.push({
    id,
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
  const kind: JobKind = {
    name: "work",
    run,
    failure: (error) => ({ code: error instanceof JobTimeout ? "timeout" : "broken", message: String(error) }),
  };
  const runner = createJobRunner({ store, kinds: [kind], clock, owner, ttlMs: () => 1000, problem: () => undefined });
  runners.push(runner);
  runner.start();
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
