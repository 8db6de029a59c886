// Functions that create jobs for the cases.

import { expect } from "bun:test";
import type { Verbs } from "../../../src/store/verbs.ts";
import { type JobLease, JobLost } from "../../../src/store/work/job-hold.ts";
import { TEXTS, type World } from "./world.ts";

/** Claims a crawl. */
export const claim = (verbs: Verbs, owner: string) => verbs.jobs.claimJob({ owner, leaseMs: 100, kinds: ["crawl"] });
/** An address of the frontier. */
export const entry = (urlKey: string, depth = 0) => ({ urlKey, url: `http://x/${urlKey}`, depth });

/** Queues a job and returns its account. */
export async function queued({ verbs, clock, account }: World, id = "j", owner?: string): Promise<string> {
  const accountId = owner ?? (await account());
  await verbs.jobs.createJob({
    id,
    kind: "crawl",
    accountId,
    input: { texts: TEXTS },
    deadlineAtMs: clock.now() + 1000,
  });
  return accountId;
}

/** The claim of a job that holds; one of nobody where it is not claimed. */
export async function held({ verbs }: Pick<World, "verbs">, id = "j"): Promise<JobLease> {
  const owner = await verbs.jobs.findJobOwner(id);
  const job = owner && (await verbs.jobs.findJob(owner.kind, owner.accountId, id));
  return { id, lease: job?.lease ?? "none" };
}

/** A job that someone works on. */
export async function running(world: World): Promise<string> {
  const accountId = await queued(world);
  await claim(world.verbs, "me");
  return accountId;
}

/** Stores pages with these addresses; every second one has failed. */
export async function withPages(world: World, urls: readonly string[]): Promise<string> {
  const accountId = await running(world);
  const job = await held(world);
  for (const [n, url] of urls.entries()) {
    const page = { url, failed: n % 2 === 1, body: { text: "é", keys: [`key-${url}`] } };
    await world.verbs.frontier.saveVisit(job, { urlKey: url, page, frontierMax: 9 });
  }
  return accountId;
}

/**
 * A job that "me" worked on, with pages `a` (taken) and `b` (waiting), until another took it over, whose turn it is: the lost
 * claim, and the one that holds. `by`: the name of the other.
 */
export async function takenOver(world: World, by = "you") {
  const accountId = await running(world);
  const lost = await held(world);
  await world.verbs.frontier.addFrontier(lost, [entry("a"), entry("b")], 9);
  await world.verbs.frontier.takeFrontier(lost, 1);
  world.clock.advance(100);
  const job = await claim(world.verbs, by);
  if (job === undefined) throw new Error("The job could not be claimed.");
  return { accountId, lost, job };
}

/** Fails unless `write` is refused because the job no longer belongs to the writer. */
export async function expectLost(write: Promise<unknown>): Promise<void> {
  expect(await write.catch((error: unknown) => error)).toBeInstanceOf(JobLost);
}
