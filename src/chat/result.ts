// A whole answer: the result of `fold`.

import type { FinishReason, ImageEvent, Usage } from "./event.ts";
import type { Citation, ServerToolBlock } from "./server-tools.ts";

/** One finished block of an answer. */
export type ResultBlock =
  | {
      type: "text";
      text: string;
      refusal?: boolean;
      logprobs?: unknown[];
      annotations?: unknown[];
      citations?: Citation[];
    }
  | {
      type: "reasoning";
      text: string;
      summary?: string[];
      itemId?: string;
      signature?: string;
      redacted?: string;
      encrypted?: string;
      details?: readonly unknown[];
      origin?: string;
    }
  | {
      type: "tool-call";
      callId: string;
      name: string;
      kind: "function" | "custom";
      arguments: string;
      namespace?: string;
      signature?: string;
      origin?: string;
      itemId?: string;
    }
  | Omit<ImageEvent, "choice">
  | { type: "opaque"; origin: string; value: Readonly<Record<string, unknown>> }
  | ServerToolBlock
  /** The place at which the result of the call came. */
  | { type: "server-tool-result"; call: ServerToolBlock };

export interface ResultChoice {
  index: number;
  blocks: ResultBlock[];
  reason: FinishReason;
  rawReason?: string;
  stopSequence?: string;
}

export interface ChatResult {
  upstreamId?: string;
  upstreamModel?: string;
  choices: ResultChoice[];
  usage?: Usage;
  rawUsage?: unknown;
  raw?: Readonly<Record<string, unknown>>;
}
