// What a worker writes for a job that it lost changes nothing, in whatever way it lost it: every verb that writes for a worker,
// on every engine.

import { afterAll, describe, expect, test } from "bun:test";
import type { Verbs } from "../../../src/store/verbs.ts";
import { type JobLease, JobLost } from "../../../src/store/work/job-hold.ts";
import { ENGINES } from "./engines.ts";
import { claim, entry, held, running } from "./job-hands.ts";
import { type World, worldOf } from "./world.ts";

/** The verbs of a domain that take the claim of a job. */
type OfWorkers<Domain> = {
  [Verb in keyof Domain]: Domain[Verb] extends (...args: infer Args) => unknown
    ? Args[0] extends JobLease
      ? Verb
      : never
    : never;
}[keyof Domain];
type WorkerVerb = OfWorkers<Verbs["jobs"]> | OfWorkers<Verbs["frontier"]> | OfWorkers<Verbs["answers"]>;

const page = { url: "a", failed: false, body: { late: true } };
const late = { asked: "late", url: "late", status: 200, headers: new Headers(), body: new Uint8Array([1]) };

/** A verb without a row does not compile. */
const WRITES: Readonly<Record<WorkerVerb, (verbs: Verbs, job: JobLease) => Promise<unknown>>> = {
  renewJob: ({ jobs }, job) => jobs.renewJob(job, 1_000_000),
  releaseJob: ({ jobs }, job) => jobs.releaseJob(job),
  saveProgress: ({ jobs }, job) => jobs.saveProgress(job, { late: true }),
  finishJob: ({ jobs }, job) => jobs.finishJob(job, { state: "completed", result: { late: true }, ttlMs: 9 }),
  addFrontier: ({ frontier }, job) => frontier.addFrontier(job, [entry("late")], 99),
  takeFrontier: ({ frontier }, job) => frontier.takeFrontier(job, 99),
  resetFrontier: ({ frontier }, job) => frontier.resetFrontier(job),
  saveVisit: ({ frontier }, job) =>
    frontier.saveVisit(job, { urlKey: "a", page, links: [entry("late")], progress: { late: true }, frontierMax: 99 }),
  keepAnswer: ({ answers }, job) => answers.keepAnswer(job, "a", late),
};

const lapse = ({ clock }: World) => clock.advance(100);

/** How a job is lost. */
const LOSSES: Readonly<Record<string, (world: World, job: JobLease, accountId: string) => Promise<unknown>>> = {
  "another program claimed it after its lease had ended": async (world) => {
    lapse(world);
    return claim(world.verbs, "you");
  },
  "a program of the same name claimed it again": async (world) => {
    lapse(world);
    return claim(world.verbs, "me");
  },
  "it was given back": ({ verbs }, job) => verbs.jobs.releaseJob(job),
  "a program of the same name started, and claimed it": async ({ verbs }) => {
    await verbs.jobs.releaseJobs("me");
    return claim(verbs, "me");
  },
  "it was cancelled": ({ verbs }, { id }, accountId) =>
    verbs.jobs.cancelJob({ kind: "crawl", accountId, id, ttlMs: 9 }),
  "it has ended": ({ verbs }, job) => verbs.jobs.finishJob(job, { state: "completed", ttlMs: 9 }),
  "its account was deleted": ({ verbs }, _job, accountId) => verbs.accounts.deleteAccount(accountId),
};

/** Everything that is stored of the job. */
async function stored({ jobs, frontier, answers, storage }: Verbs, accountId: string) {
  return {
    job: await jobs.findJob("crawl", accountId, "j"),
    frontier: await frontier.countFrontier("j"),
    pages: await frontier.listPages("j"),
    answers: await Promise.all(["a", "b"].map((key) => answers.listAnswers("j", key))),
    bytes: (await storage.storageOf(accountId)).usedBytes,
  };
}

/** A claimed job with a page that is taken and one that waits, and an answer of a site. */
async function underWay(world: World): Promise<{ job: JobLease; accountId: string }> {
  const accountId = await running(world);
  const job = await held(world);
  await world.verbs.frontier.addFrontier(job, [entry("a"), entry("b")], 9);
  await world.verbs.frontier.takeFrontier(job, 1);
  await world.verbs.answers.keepAnswer(job, "a", { ...late, asked: "a" });
  return { job, accountId };
}

for (const engine of ENGINES) {
  const available = await engine.available();
  describe.skipIf(!available)(engine.name, () => {
    afterAll(() => engine.end());
    const inWorld = async (run: (world: World) => Promise<void>) => {
      const opened = await engine.open();
      try {
        await run(worldOf(opened));
      } finally {
        await opened.close();
      }
    };

    test("what is written under the claim that holds changes the job", () =>
      inWorld(async (world) => {
        const { accountId } = await underWay(world);
        // First those after which the claim still holds.
        for (const verb of [
          "renewJob",
          "saveProgress",
          "keepAnswer",
          "addFrontier",
          "resetFrontier",
          "takeFrontier",
        ] as const) {
          const before = await stored(world.verbs, accountId);
          await WRITES[verb](world.verbs, await held(world));
          expect([verb, await stored(world.verbs, accountId)]).not.toEqual([verb, before]);
        }
        for (const verb of ["saveVisit", "releaseJob", "finishJob"] as const) {
          const before = await stored(world.verbs, accountId);
          await WRITES[verb](world.verbs, await held(world));
          expect([verb, await stored(world.verbs, accountId)]).not.toEqual([verb, before]);
          if (verb === "releaseJob") await claim(world.verbs, "me");
        }
      }));

    test.each(Object.keys(LOSSES))("a worker writes nothing more when %s", (way) =>
      inWorld(async (world) => {
        const { job, accountId } = await underWay(world);
        await LOSSES[way]?.(world, job, accountId);
        const before = await stored(world.verbs, accountId);
        for (const [verb, write] of Object.entries(WRITES)) {
          const told = await write(world.verbs, job).catch((error: unknown) => error);
          expect([verb, told === false || told instanceof JobLost]).toEqual([verb, true]);
          expect([verb, await stored(world.verbs, accountId)]).toEqual([verb, before]);
        }
      }),
    );
  });
}
