// The features of chat. A stage prepares and adapts a request in the order of this list, and sees its answer in reverse.

import type { GuardedFetch } from "../../net/fetch.ts";
import type { FileStore } from "../../store/work/files.ts";
import type { Budgets } from "../admission/budgets.ts";
import { REQUEST_ORIGINS, type RequestOrigin } from "../centre/request-source.ts";
import type { Stage, StagesByOrigin } from "../centre/stage.ts";
import type { Affinity } from "./affinity/affinity.ts";
import { createAffinityStage } from "./affinity/stage.ts";
import { approvalsStage } from "./approvals/stage.ts";
import { createBudgetsStage } from "./budgets/stage.ts";
import type { CacheDeps } from "./cache/deps.ts";
import { createCacheStage } from "./cache/stage.ts";
import type { ChatToolsDeps } from "./chat-tools/deps.ts";
import { createChatToolsStage } from "./chat-tools/stage.ts";
import { choiceStage } from "./choice/stage.ts";
import type { ChatCompaction } from "./compaction/conversations.ts";
import type { RecordsDeps } from "./compaction/open-records.ts";
import { createCompactionStage } from "./compaction/stage.ts";
import { debuggingStage } from "./debugging/stage.ts";
import { createFilesStage } from "./files/stage.ts";
import type { Guards } from "./guardrails/deps.ts";
import { createGuardrailsStage } from "./guardrails/stage.ts";
import { createHistoryStage, type HistoryStageDeps } from "./history/stage.ts";
import { createImagesStage } from "./images/stage.ts";
import { createWindowStage, limitsStage } from "./limits/stage.ts";
import { loadingStage } from "./loading/stage.ts";
import { createReasoningStage, type ReasoningDeps } from "./reasoning/stage.ts";
import { createRecordsStage } from "./records/stage.ts";
import type { RunsDeps } from "./runs/deps.ts";
import { createRunsStage } from "./runs/stage.ts";
import { createThreadsStage, type ThreadsDeps } from "./threads/stage.ts";
import { tokensStage } from "./tokens/stage.ts";
import { warmupStage } from "./warmup/stage.ts";

/** What the stages need. */
export interface StageDeps extends ThreadsDeps, ReasoningDeps, RecordsDeps, ChatToolsDeps {
  history: HistoryStageDeps;
  files: FileStore;
  compaction: ChatCompaction;
  cache: CacheDeps;
  affinity: Affinity;
  budgets: Pick<Budgets, "reserve">;
  guards: Guards;
  agentRuns: RunsDeps;
  /** Creates a fetcher of images that clients name by URL. */
  imageFetch(): GuardedFetch;
}

/** A stage, and the origins of the requests for which it opens. */
export interface StageLine {
  readonly stage: Stage;
  readonly opens: readonly RequestOrigin[];
}

/** For the gateway's own requests too. */
const ALL: readonly RequestOrigin[] = REQUEST_ORIGINS;
/** For what clients ask, one by one or in batches. The gateway's own requests are complete, and as long as they should be. */
const ASKED: readonly RequestOrigin[] = ["client", "row"];
/** For a client that waits for the answer. */
const DIRECT: readonly RequestOrigin[] = ["client"];

/** Creates all stages, in order. */
export function createStageLines(deps: StageDeps): readonly StageLine[] {
  return [
    // Sees the calls of every request, whatever the other stages make of it.
    { stage: debuggingStage, opens: ASKED },
    // Narrows the routes first, since the other stages ask what these can do.
    { stage: choiceStage, opens: ASKED },
    // Has no content, which the others need.
    { stage: loadingStage, opens: DIRECT },
    // Counts what is asked, before anything is read for it.
    { stage: createRunsStage(deps.agentRuns), opens: DIRECT },
    ...createContentStages(deps).map((stage) => ({ stage, opens: ASKED })),
    // Needs the whole content, and the routes that can answer; a record ends the walk before anything is reserved.
    { stage: createCompactionStage(deps.compaction), opens: ASKED },
    // A prompt that compaction sees to is not refused.
    { stage: createWindowStage(deps.provider), opens: ASKED },
    // Its tools' results are looked through by the guardrails, and each of its rounds is paid for below.
    { stage: createChatToolsStage(deps), opens: ASKED },
    // Looks through all that is sent; what stages above keep, they keep with its values.
    { stage: createGuardrailsStage(deps.guards), opens: ALL },
    // Sees the whole content. What it answers costs nothing, and nothing is reserved for it.
    { stage: createCacheStage(deps.cache), opens: DIRECT },
    // Chooses among the routes that are left.
    { stage: createAffinityStage(deps.affinity), opens: ASKED },
    // Images are fetched for what is sent, after a conversation was shortened.
    { stage: createImagesStage(deps.imageFetch), opens: ASKED },
    // Reads the list as it is sent.
    { stage: createReasoningStage(deps), opens: ASKED },
    // Counts what is sent. Rows of batches are outside the limits of a minute; the gateway's own requests belong to another.
    { stage: tokensStage, opens: DIRECT },
    // Reserves after all that may refuse, so that a refusal of any other stage costs nothing.
    { stage: createBudgetsStage(deps.budgets), opens: ALL },
    // Nothing refuses below it, so that no call is made for a request that is refused.
    { stage: approvalsStage, opens: ASKED },
  ];
}

/** Lists without a stage. They are filled once all is built that stages need, some of which makes requests itself. */
export function emptyStages(): Record<RequestOrigin, Stage[]> {
  return { client: [], row: [], inner: [] };
}

/** Lists the stages that open for each origin, so that no request asks. */
export function fillStages(lists: Record<RequestOrigin, Stage[]>, lines: readonly StageLine[]): StagesByOrigin {
  for (const origin of REQUEST_ORIGINS) {
    for (const { stage, opens } of lines) if (opens.includes(origin)) lists[origin].push(stage);
  }
  return lists;
}

/** Creates the stages for requests that are not answered: their content, and for a provider's count, what it can read of it. */
export function createCountingStages(
  deps: Parameters<typeof createContentStages>[0] & ReasoningDeps & Pick<StageDeps, "guards">,
) {
  const contentStages = createContentStages({ ...deps, onlyReads: true });
  // A provider that counts a text gets it.
  const guardedStages = [...contentStages, createGuardrailsStage(deps.guards)];
  return { contentStages, guardedStages, countedStages: [...guardedStages, createReasoningStage(deps)] };
}

/** Creates the stages that complete the content of a request. */
function createContentStages(deps: Pick<StageDeps, "history" | "files"> & ThreadsDeps & RecordsDeps): Stage[] {
  return [
    // Inserts what was stored, in which the following stages look for files and records.
    createHistoryStage(deps.history),
    // What it answers is held with the history.
    warmupStage,
    createThreadsStage(deps),
    createFilesStage(deps.files),
    createRecordsStage(deps),
    // Checks what was inserted.
    limitsStage,
  ];
}
