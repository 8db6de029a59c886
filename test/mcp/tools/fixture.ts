// The arguments with which each tool is tested, on a site called https://example.com, and what its answer must contain.

import type { JsonRecord } from "../../../src/mcp/tool.ts";

export interface ToolFixture {
  /** The arguments. For the status of a job, the id of the job that `before` started is added. */
  readonly args: JsonRecord;
  /** A call that must be made first. Its `job_id` is added to the arguments. */
  readonly before?: { readonly tool: string; readonly args: JsonRecord };
  /** A part of the text. */
  readonly text: string | RegExp;
  /** A part of the data. */
  readonly data: JsonRecord;
  /** Arguments that are refused, and the parameter that the error names. */
  readonly refused: { readonly args: JsonRecord; readonly param: string; readonly code?: string };
}
