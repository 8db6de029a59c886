// What each tool is tried with, over a site called https://example.com, and what its answer must hold.

import type { JsonRecord } from "../../../src/mcp/tool.ts";

export interface ToolFixture {
  /** Arguments; those of a job's status get the id of the job that `before` started. */
  readonly args: JsonRecord;
  /** A call that must come first, whose `job_id` is added to the arguments. */
  readonly before?: { readonly tool: string; readonly args: JsonRecord };
  /** A part of the text. */
  readonly text: string | RegExp;
  /** A part of the data. */
  readonly data: JsonRecord;
  /** Arguments that are refused, and the parameter that is named. */
  readonly refused: { readonly args: JsonRecord; readonly param: string; readonly code?: string };
}
