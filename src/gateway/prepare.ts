// What is done to a request before it is routed: stored history and uploaded files take the places of their names.

import type { FileStore } from "../store/work/files.ts";
import type { Draft, Prepared } from "./deps.ts";
import { expandHistory, type HistoryDeps } from "./history.ts";
import { withFiles } from "./media.ts";

export interface PrepareDeps {
  history: HistoryDeps;
  files: FileStore;
}

/** Members that may have been changed. */
const MEMBERS = ["messages", "input", "previous_response_id"] as const;

/** Builds the step; undefined when there was nothing to do. */
export function createPrepare(deps: PrepareDeps): (draft: Draft) => Promise<Prepared | undefined> {
  return async ({ caller, format, body, chat, options }) => {
    if (format.storesAnswers !== true) {
      const filled = await withFiles(deps.files, caller.accountId, body);
      if (filled === body) return undefined;
      return { chat: format.decode(filled, options), members: changed(filled, body) };
    }
    const { body: expanded, portableInput, keep } = await expandHistory(deps.history, caller.accountId, body);
    const filled = await withFiles(deps.files, caller.accountId, expanded);
    const read = filled === body ? chat : format.decode(filled, options);
    const members = changed(filled, body);
    if (portableInput !== undefined) {
      const portable = await withFiles(deps.files, caller.accountId, { input: portableInput });
      members["input"] = portable["input"];
    }
    const dropped: string[] = [];
    if (body["background"] === true) {
      // Nobody could ask the upstream how far it is: the client waits, and has the whole answer then.
      members["background"] = undefined;
      dropped.push("background");
    }
    const stored = { ...read, store: keep !== undefined };
    return { chat: stored, members, dropped, ...(keep === undefined ? {} : { keep }) };
  };
}

/** What is no longer as the client sent it; undefined for what is to be left out. */
function changed(now: Readonly<Record<string, unknown>>, body: Readonly<Record<string, unknown>>) {
  const members: Record<string, unknown> = {};
  for (const key of MEMBERS) if (now[key] !== body[key]) members[key] = now[key];
  return members;
}
