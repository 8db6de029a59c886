// The store's functions for a running job. They write on condition that this program still runs the job, so that a program which
// lost a job writes nothing more for it.

import type { AnswerStore } from "../store/work/answers.ts";
import type { FrontierStore } from "../store/work/frontier.ts";

type Written = FrontierStore & AnswerStore;

/** The functions of `store`; those that write are restricted to jobs that `owner` runs. */
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
