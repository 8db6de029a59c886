// What an MCP tool is: a name and words for models, and one of the program's endpoints that does the work. Limits,
// accounting and errors are the endpoint's.

import type { AtOnce } from "../base/at-once.ts";
import type { KeyModels } from "../catalog/key-models.ts";
import type { TierId } from "../config/schema.ts";

/** A JSON object. */
export type JsonRecord = Record<string, unknown>;

/** Whose key it is. */
export interface McpCaller {
  readonly keyId: string;
  /** Models that the key may use. */
  readonly models: KeyModels;
  readonly account: { readonly tier: TierId };
}

/** What there is to work with, beside the web. */
export interface Resources {
  /** Whether a search engine is in use. */
  hasEngine(): boolean;
  /** Whether the caller may use a model that reads pages. */
  hasModel(caller: McpCaller): boolean;
  /** Decision models that the caller may use, by version and alias. */
  decisionModels(caller: McpCaller): AtOnce<readonly string[]>;
}

/** What a tool asks an endpoint. */
export interface Ask {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** The pattern of the path, where it has parameters. */
  readonly route?: string;
  readonly body?: JsonRecord;
}

/** What a running tool has. */
export interface ToolRun {
  readonly signal: AbortSignal;
  /** Asks an endpoint in the caller's name. Rejects with `ApiError`. */
  ask(asked: Ask): Promise<JsonRecord>;
  /** The same where the endpoint waits for a job: its progress is told meanwhile. */
  askForJob(asked: Ask): Promise<JsonRecord>;
  /** Looks at a job, as part of a call that was counted. */
  look(asked: Ask): Promise<JsonRecord>;
  /** Ends a job, also when the signal has been aborted. */
  end(asked: Ask): Promise<JsonRecord>;
  /** Tells a client that wants to know. */
  progress(job: JsonRecord): void;
  /** Decision models that the caller may use. */
  decisionModels(): AtOnce<readonly string[]>;
}

/** What a tool gives. */
export interface ToolAnswer {
  /** For models: default the JSON of `data`. */
  readonly text?: string;
  /** For programs, as `output` says. */
  readonly data: JsonRecord;
  /** PNGs in base64. */
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
  /** When to use it and what it gives, in less than 120 words. */
  readonly description: string;
  /** The endpoint whose parameters and answer it has, as `POST /v1/scrape`. */
  readonly endpoint: string;
  /** Changes nothing anywhere: what it starts is not counted. */
  readonly readOnly: boolean;
  /** Reaches the web. */
  readonly openWorld: boolean;
  /** Members of the endpoint's answer that are left out. */
  readonly omits?: readonly string[];
  /** The parameter that says how long the caller waits. Where a call does not say, a tool answers before most clients give up. */
  readonly time?: { readonly parameter: string; readonly aliases?: readonly string[]; readonly perSecond: number };
  /** Whether it can work for this caller; default yes. */
  isOffered?(resources: Resources, caller: McpCaller): AtOnce<boolean>;
  /** Its own view of the endpoint's schemas. */
  schemas?(endpoint: EndpointSchemas, models: () => AtOnce<readonly string[]>): AtOnce<EndpointSchemas>;
  run(args: JsonRecord, run: ToolRun): Promise<ToolAnswer>;
}
