// Opens the records of a conversation that a client carries: those that the gateway sealed become text, a vendor's own restrict
// the routes to that vendor.

import { type Change, type ChatTurn, mayContain, reread, type Stage, type StageRun } from "../../centre/stage.ts";
import { type RecordsDeps, withRecords } from "../compaction/open-records.ts";

/** The type of every record begins like this. */
const RECORD = '"compaction';

/** Creates the stage. */
export function createRecordsStage(deps: RecordsDeps): Stage {
  const run: StageRun = { prepare: (turn) => opened(deps, turn) };
  return {
    name: "records",
    // The history that was inserted before may carry records too.
    open: (turn) =>
      turn.format.entries !== undefined && (turn.before !== undefined || mayContain(turn, RECORD)) ? run : undefined,
  };
}

function opened(deps: RecordsDeps, turn: ChatTurn): Change | undefined {
  const { content } = turn;
  const { body, routes } = withRecords(deps, turn, content);
  if (body === content) return routes === undefined ? undefined : { why: "records", routes };
  const name = turn.format.entries?.member ?? "";
  const members = { ...turn.members };
  const own = members[name];
  // The list for the client's own protocol may differ from the one that was read.
  members[name] =
    own === undefined || own === content[name] ? body[name] : withRecords(deps, turn, { [name]: own }).body[name];
  return {
    why: "records",
    content: body,
    chat: reread(turn, body),
    members: turn.members && members,
    ...(routes === undefined ? {} : { routes }),
  };
}
