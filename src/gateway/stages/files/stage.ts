// Inserts uploaded files: what a request names by id becomes base64 before routing.

import type { FileStore } from "../../../store/work/files.ts";
import { type ChatTurn, mayContain, reread, type Stage, type StageRun } from "../../centre/stage.ts";
import { withFiles } from "./uploaded.ts";

/** How every id of an uploaded file begins. */
const ID_START = "file-";
/** The members of a body that may name files. */
const LISTS = ["messages", "input"] as const;

/** Creates the stage. */
export function createFilesStage(store: FileStore): Stage {
  const run: StageRun = { prepare: (turn) => inserted(store, turn) };
  return {
    name: "files",
    // The history that was inserted before may name files too.
    open: (turn) => (turn.before !== undefined || mayContain(turn, ID_START) ? run : undefined),
  };
}

async function inserted(store: FileStore, turn: ChatTurn) {
  const { accountId } = turn.caller;
  const content = await withFiles(store, accountId, turn.content, turn.body);
  if (content === turn.content) return undefined;
  const members: Record<string, unknown> = { ...turn.members };
  for (const name of LISTS) {
    if (content[name] === turn.content[name]) continue;
    // The list for the client's own protocol may differ from the one that was read.
    const own = turn.members?.[name];
    members[name] =
      own === undefined || own === turn.content[name]
        ? content[name]
        : (await withFiles(store, accountId, { [name]: own }, turn.body))[name];
  }
  return { why: "files", content, chat: reread(turn, content), members: turn.members && members };
}
