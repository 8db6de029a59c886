// Functions that create jobs for the cases.

import { expect } from "bun:test";
import type { Verbs } from "../../../src/store/verbs.ts";
import { JobLost } from "../../../src/store/work/job-hold.ts";
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

/** A job that a program has claimed. */
export async function running(world: World): Promise<string> {
  const accountId = await queued(world);
  await claim(world.verbs, "me");
  return accountId;
}

/** Stores pages with these addresses; every second one has failed. */
export async function withPages(world: World, urls: readonly string[]): Promise<string> {
  const accountId = await running(world);
  for (const [n, url] of urls.entries()) {
    const page = { url, failed: n % 2 === 1, body: { text: "é", keys: [`key-${url}`] } };
    await world.verbs.frontier.saveVisit("j", { urlKey: url, page, frontierMax: 9 });
  }
  return accountId;
}

/** A job of "me" with the pages `a` (taken) and `b` (waiting), which "you" has taken over. */
export async function takenOver(world: World): Promise<string> {
  const accountId = await running(world);
  await world.verbs.frontier.addFrontier("j", [entry("a"), entry("b")], 9, "me");
  await world.verbs.frontier.takeFrontier("j", 1, "me");
  world.clock.advance(100);
  await claim(world.verbs, "you");
  return accountId;
}

/** Fails unless `write` is refused because the job no longer belongs to the writer. */
export async function expectLost(write: Promise<unknown>): Promise<void> {
  expect(await write.catch((error: unknown) => error)).toBeInstanceOf(JobLost);
}
