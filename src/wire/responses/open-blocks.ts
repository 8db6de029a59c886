// What is open in a stream of the responses format.

import type { ToolStart } from "../../chat/event.ts";
import type { Fields } from "../check.ts";
import type { ResponsesItem } from "./shape.ts";

/** A message item, whose parts are consecutive texts. */
export interface OpenMessage {
  id: string;
  index: number;
  content: ResponsesItem[];
  openParts: number;
  done: boolean;
}

/** An open block: where its deltas go, and its content so far. */
export type OpenBlock =
  | {
      type: "text";
      message: OpenMessage;
      part: number;
      refusal: boolean;
      text: string;
      logprobs: unknown[];
      annotations?: Fields[];
      /** The text of an event before its delta. */
      head: string;
    }
  | {
      type: "reasoning";
      id: string;
      index: number;
      summary: string[];
      slot: number | undefined;
      raw: boolean;
      head: string;
    }
  | { type: "tool"; id: string; index: number; call: ToolStart; text: string; head: string };
