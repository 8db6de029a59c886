// The store as a running job writes to it: in the name of the program that runs it, so that a program which lost a job writes
// nothing more for it.

import type { AnswerStore } from "../store/work/answers.ts";
import type { FrontierStore } from "../store/work/frontier.ts";

type Written = FrontierStore & AnswerStore;

/** The verbs of `store`, those that write on condition that `owner` holds the job. */
export function heldBy<Verbs extends Written>(owner: string, store: Verbs) {
  return {
    ...store,
    addFrontier: (...[jobId, entries, max]: Parameters<Written["addFrontier"]>) =>
      store.addFrontier(jobId, entries, max, owner),
    takeFrontier: (...[jobId, limit]: Parameters<Written["takeFrontier"]>) => store.takeFrontier(jobId, limit, owner),
    resetFrontier: (...[jobId]: Parameters<Written["resetFrontier"]>) => store.resetFrontier(jobId, owner),
    saveVisit: (...[jobId, visit]: Parameters<Written["saveVisit"]>) => store.saveVisit(jobId, visit, owner),
    keepAnswer: (...[jobId, urlKey, answer]: Parameters<Written["keepAnswer"]>) =>
      store.keepAnswer(jobId, urlKey, answer, owner),
  };
}
