// The parameter names of the responses format, and the nested members that its reader reads.

import type { ClientNames } from "../client-names.ts";
import { known, type ObjectShape } from "../unread.ts";
import { RESPONSES_FIELDS } from "./fields.ts";

/** The client's names, by neutral name. */
export const RESPONSES_NAMES: ClientNames = {
  ...RESPONSES_FIELDS.names,
  max_completion_tokens: ["max_output_tokens"],
  reasoning_effort: ["reasoning.effort", "reasoning"],
  reasoning_summary: ["reasoning.summary", "reasoning.generate_summary", ""],
  response_format: ["text.format"],
  logprobs: ["top_logprobs", "include"],
  detail: ["input.content.detail"],
};

const RESPONSES_FUNCTION: ObjectShape = {
  reads: "type name description parameters strict defer_loading",
  holds: { function: { reads: "name description parameters strict defer_loading" } },
};
const RESPONSES_CUSTOM: ObjectShape = {
  reads: "type name description format defer_loading",
  holds: { custom: { reads: "name description format defer_loading" } },
};
const RESPONSES_TEXT: ObjectShape = { reads: "type text logprobs prompt_cache_breakpoint" };
const RESPONSES: ObjectShape = {
  holds: {
    ...RESPONSES_FIELDS.shapes,
    tools: {
      kinds: {
        function: RESPONSES_FUNCTION,
        custom: RESPONSES_CUSTOM,
        namespace: {
          // When a namespace is flattened into names, its description is lost.
          reads: "type name",
          holds: { tools: { kinds: { function: RESPONSES_FUNCTION, custom: RESPONSES_CUSTOM } } },
        },
      },
    },
    input: {
      kind: "message",
      kinds: {
        configuration_update: {
          reads: "type id",
          holds: { reasoning: { reads: "effort" }, text: RESPONSES_FIELDS.shapes["text"] ?? {} },
        },
        message: {
          reads: "type role id status",
          holds: {
            content: {
              kinds: {
                input_text: RESPONSES_TEXT,
                output_text: RESPONSES_TEXT,
                text: RESPONSES_TEXT,
                refusal: { reads: "type refusal" },
                input_image: { reads: "type image_url file_id detail prompt_cache_breakpoint" },
                input_file: { reads: "type file_id file_url file_data filename prompt_cache_breakpoint" },
              },
            },
          },
        },
      },
    },
  },
};

/** The members that are read. */
export const RESPONSES_READS = known(RESPONSES);
