// What a request is grouped by in reports: the project of its key, its tags and its agent run.

import type { Exchange } from "../../http/exchange.ts";
import type { UsageRecord } from "../../store/usage/record.ts";

/** What holds the labels of a request. */
export type LabelHolder = Pick<Exchange, "tags" | "runId" | "caller">;

/** The members of the usage records of a request by which reports group it; undefined for most requests. */
export function usageLabelsOf({
  tags,
  runId,
  caller,
}: LabelHolder): Pick<UsageRecord, "projectId" | "tags" | "runId"> | undefined {
  const projectId = caller?.projectId ?? undefined;
  if (tags === undefined && runId === undefined && projectId === undefined) return undefined;
  return {
    ...(projectId === undefined ? undefined : { projectId }),
    ...(tags === undefined ? undefined : { tags }),
    ...(runId === undefined ? undefined : { runId }),
  };
}
