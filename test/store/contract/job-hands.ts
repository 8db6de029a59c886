// Jobs for the cases of their verbs.

import { expect } from "bun:test";
import type { Verbs } from "../../../src/store/verbs.ts";
import { JobLost } from "../../../src/store/work/job-hold.ts";
import { TEXTS, type World } from "./world.ts";

/** Takes up a crawl. */
export const claim = (verbs: Verbs, owner: string) => verbs.jobs.claimJob({ owner, leaseMs: 100, kinds: ["crawl"] });
/** An address to visit. */
export const entry = (urlKey: string, depth = 0) => ({ urlKey, url: `http://x/${urlKey}`, depth });

/** Queues a job; gives its account. */
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

/** A job that someone works on. */
export async function running(world: World): Promise<string> {
  const accountId = await queued(world);
  await claim(world.verbs, "me");
  return accountId;
}

/** Stores pages of these addresses, every second one failed. */
export async function withPages(world: World, urls: readonly string[]): Promise<string> {
  const accountId = await running(world);
  for (const [n, url] of urls.entries()) {
    const page = { url, failed: n % 2 === 1, body: { text: "é", keys: [`key-${url}`] } };
    await world.verbs.frontier.saveVisit("j", { urlKey: url, page, frontierMax: 9 });
  }
  return accountId;
}

/** A job that "me" worked on, with pages `a` (taken) and `b` (waiting), until "you" took it over, whose turn it is. */
export async function takenOver(world: World): Promise<string> {
  const accountId = await running(world);
  await world.verbs.frontier.addFrontier("j", [entry("a"), entry("b")], 9, "me");
  await world.verbs.frontier.takeFrontier("j", 1, "me");
  world.clock.advance(100);
  await claim(world.verbs, "you");
  return accountId;
}

/** Fails unless `write` is refused, as the job is not the writer's any more. */
export async function expectLost(write: Promise<unknown>): Promise<void> {
  expect(await write.catch((error: unknown) => error)).toBeInstanceOf(JobLost);
}
