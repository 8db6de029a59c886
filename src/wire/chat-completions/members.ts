// The parameter names of chat completions, and the nested members that its reader reads.

import type { ClientNames } from "../client-names.ts";
import { known, type ObjectShape } from "../unread.ts";
import { CHAT_FIELDS } from "./fields.ts";

const LIMIT = ["max_completion_tokens", "max_tokens"];
/** The client's names, by neutral name. */
export const CHAT_NAMES: ClientNames = {
  ...CHAT_FIELDS.names,
  max_tokens: LIMIT,
  max_completion_tokens: LIMIT,
  max_output_tokens: LIMIT,
  reasoning_effort: ["reasoning_effort", "reasoning"],
  reasoning: ["reasoning_effort", "reasoning"],
  reasoning_summary: [""],
  detail: ["messages.content.image_url.detail"],
};

const CHAT_FUNCTION: ObjectShape = { reads: "name description parameters strict" };
const CHAT_TEXT: ObjectShape = { reads: "type text refusal cache_control prompt_cache_breakpoint" };
const CHAT: ObjectShape = {
  holds: {
    ...CHAT_FIELDS.shapes,
    functions: CHAT_FUNCTION,
    tools: {
      kinds: {
        function: { reads: "type cache_control", holds: { function: CHAT_FUNCTION } },
        custom: { reads: "type", holds: { custom: { reads: "name description format" } } },
      },
    },
    messages: {
      reads:
        "role name tool_call_id tool_calls function_call refusal reasoning reasoning_content reasoning_details images cache_control",
      holds: {
        images: { reads: "type index", holds: { image_url: { reads: "url detail" } } },
        content: {
          kinds: {
            text: CHAT_TEXT,
            refusal: CHAT_TEXT,
            image_url: {
              reads: "type cache_control prompt_cache_breakpoint",
              holds: { image_url: { reads: "url detail" } },
            },
            input_audio: { reads: "type", holds: { input_audio: { reads: "data format" } } },
            file: {
              reads: "type cache_control prompt_cache_breakpoint",
              holds: { file: { reads: "file_id file_data filename" } },
            },
          },
        },
      },
    },
  },
};

/** The members that are read. */
export const CHAT_READS = known(CHAT);
