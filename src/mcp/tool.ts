// Defines an MCP tool: a name and a description for models, and the endpoint of this program that does the work. Limits,
// accounting and errors are those of the endpoint.

import type { AtOnce } from "../base/at-once.ts";

/** A JSON object. */
export type JsonRecord = Record<string, unknown>;

/** What a client can use in addition to the web, as the program is configured and as its key and plan allow. */
export interface Resources {
  /** Whether a search engine is in use. */
  hasEngine(): boolean;
  /** Whether it may use a model that can read pages. */
  hasModel(): boolean;
  /** The decision models that it may use, by version and alias. */
  decisionModels(): AtOnce<readonly string[]>;
}

/** A request of a tool to an endpoint. */
export interface Ask {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** The pattern of the path, if it has parameters. */
  readonly route?: string;
  readonly body?: JsonRecord;
}

/** What a running tool can use. */
export interface ToolRun {
  readonly signal: AbortSignal;
  /** Calls an endpoint with the caller's key. Rejects with `ApiError`. */
  ask(asked: Ask): Promise<JsonRecord>;
  /** The same for an endpoint that waits for a job. Progress is reported meanwhile. */
  askForJob(asked: Ask): Promise<JsonRecord>;
  /** Reads a job as part of a call that was already counted. */
  look(asked: Ask): Promise<JsonRecord>;
  /** Cancels a job, even after the signal has aborted. */
  end(asked: Ask): Promise<JsonRecord>;
  /** Reports progress to a client that asked for it. */
  progress(job: JsonRecord): void;
  /** The decision models that the caller may use. */
  decisionModels(): AtOnce<readonly string[]>;
}

/** The result of a tool. */
export interface ToolAnswer {
  /** The text for models; by default the JSON of `data`. */
  readonly text?: string;
  /** The data for programs, in the form of `output`. */
  readonly data: JsonRecord;
  /** PNG images in base64. */
  readonly images?: readonly string[];
}

/** The schemas of an endpoint. */
export interface EndpointSchemas {
  readonly input: JsonRecord;
  readonly output: JsonRecord;
}

/** A tool. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  /** When to use the tool and what it returns, in less than 120 words. */
  readonly description: string;
  /** The endpoint whose parameters and answer the tool has, such as `POST /v1/scrape`. */
  readonly endpoint: string;
  /** Whether the tool changes nothing, so that its calls are not counted. */
  readonly readOnly: boolean;
  /** Whether the tool reads pages of the web. */
  readonly openWorld: boolean;
  /** Members of the endpoint's answer that the tool leaves out. */
  readonly omits?: readonly string[];
  /** The parameter that states how long the caller waits. If a call omits it, the tool answers before most clients give up. */
  readonly time?: { readonly parameter: string; readonly aliases?: readonly string[]; readonly perSecond: number };
  /** Whether a client can use the tool; true if absent. */
  isOffered?(resources: Resources): AtOnce<boolean>;
  /** Replaces the endpoint's schemas by the tool's own. */
  schemas?(endpoint: EndpointSchemas, models: () => AtOnce<readonly string[]>): AtOnce<EndpointSchemas>;
  run(args: JsonRecord, run: ToolRun): Promise<ToolAnswer>;
}
