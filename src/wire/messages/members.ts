// The parameter names of the messages format, and the nested members that its reader reads.

import type { ClientNames } from "../client-names.ts";
import { known, type ObjectShape } from "../unread.ts";
import { MESSAGES_FIELDS } from "./fields.ts";

/** The client's names, by neutral name. */
export const MESSAGES_NAMES: ClientNames = {
  ...MESSAGES_FIELDS.names,
  max_completion_tokens: ["max_tokens"],
  max_output_tokens: ["max_tokens"],
  reasoning_effort: ["output_config.effort", "thinking"],
  reasoning: ["output_config.effort", "thinking"],
  reasoning_summary: ["thinking.display", ""],
  response_format: ["output_config.format", "output_format"],
  parallel_tool_calls: ["tool_choice.disable_parallel_tool_use"],
};

const MESSAGES_TEXT: ObjectShape = { reads: "type text cache_control" };
const MESSAGES_TOOL: ObjectShape = {
  kind: "custom",
  kinds: { custom: { reads: "type name description input_schema strict cache_control defer_loading" } },
};
const MESSAGES: ObjectShape = {
  holds: {
    ...MESSAGES_FIELDS.shapes,
    system: { kinds: { text: MESSAGES_TEXT } },
    tools: MESSAGES_TOOL,
    messages: {
      reads: "role clear_at",
      holds: {
        output_config: { reads: "effort" },
        content: {
          kinds: {
            text: MESSAGES_TEXT,
            image: { reads: "type source cache_control" },
            document: { reads: "type source title context cache_control" },
            // `caller` comes with every call and is only for tools that the provider runs.
            tool_use: { reads: "type id name input cache_control caller" },
            tool_result: { reads: "type tool_use_id content is_error cache_control" },
            tool_addition: {
              reads: "type cache_control",
              holds: { tool: { kinds: { tool_definition: { reads: "type", holds: { definition: MESSAGES_TOOL } } } } },
            },
          },
        },
      },
    },
  },
};

/** The members of a body that are read. */
export const MESSAGES_READS = known(MESSAGES);
