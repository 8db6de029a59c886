// Verdicts on names of which the code has no table: they were read in the code and are tried by tests. A name without a verdict
// fails the check, so that a change of a vendor is decided and not overlooked.

import type { Verdict } from "./verdict.ts";

/** SDK and kind → verdict → note → names, separated by spaces. */
export type Decided = Readonly<Record<string, Readonly<Partial<Record<Verdict, Readonly<Record<string, string>>>>>>>;

const IN_PIECES = "its content is in other events";
const PROVIDERS_TOOL = "a tool that the provider runs";
const ORDINARY = "an ordinary end";
const UNCOUNTED = "no effect on a count";

/** The verdicts. */
export const DECIDED: Decided = {
  "openai chat role": { translated: { "": "developer system user assistant tool function" } },
  "openai chat content part": {
    translated: { "": "text image_url file refusal", "refused by models without audio": "input_audio" },
  },
  "openai chat tool": { translated: { "": "function custom" } },
  "openai responses count parameter": {
    translated: {
      "": "conversation input instructions model previous_response_id reasoning text tool_choice tools",
    },
    dropped: { [UNCOUNTED]: "parallel_tool_calls personality truncation" },
  },
  "openai responses input item": {
    translated: {
      "": "message function_call function_call_output custom_tool_call custom_tool_call_output reasoning",
      "its tools are offered": "additional_tools tool_search_output",
      "its settings are in force": "configuration_update",
      "its text or image": `computer_call_output local_shell_call_output shell_call_output apply_patch_call_output
        program_output`,
      "the gateway looks the item up": "item_reference",
      "the gateway writes the summary": "compaction_trigger",
    },
    dropped: {
      [PROVIDERS_TOOL]: `file_search_call computer_call web_search_call tool_search_call image_generation_call
        code_interpreter_call local_shell_call shell_call apply_patch_call mcp_list_tools mcp_approval_request mcp_call
        program`,
    },
    refused: { "unless it is the gateway's own": "compaction", "": "mcp_approval_response" },
  },
  "openai responses content part": { translated: { "": "input_text input_image input_file output_text refusal" } },
  "openai responses tool": {
    translated: { "": "function custom", "its tools, with the name of the namespace before theirs": "namespace" },
    dropped: {
      [PROVIDERS_TOOL]: `file_search computer computer_use_preview web_search web_search_2025_08_26 mcp code_interpreter
        programmatic_tool_calling image_generation local_shell shell tool_search web_search_preview
        web_search_preview_2025_03_11 apply_patch`,
    },
  },
  "openai responses output item": {
    dropped: {
      [PROVIDERS_TOOL]: `file_search_call web_search_call computer_call computer_call_output program program_output
        tool_search_call tool_search_output additional_tools image_generation_call code_interpreter_call local_shell_call
        local_shell_call_output shell_call shell_call_output apply_patch_call apply_patch_call_output mcp_call
        mcp_list_tools mcp_approval_request mcp_approval_response`,
      "only in lists of items": "function_call_output custom_tool_call_output",
      "its content is sealed": "compaction",
    },
  },
  "openai responses stream event": {
    dropped: {
      "only text is requested": `response.audio.delta response.audio.done response.audio.transcript.delta
        response.audio.transcript.done`,
      [IN_PIECES]: `response.content_part.added response.content_part.done response.reasoning_summary_part.added
        response.reasoning_summary_part.done`,
      [PROVIDERS_TOOL]: `response.code_interpreter_call_code.delta response.code_interpreter_call_code.done
        response.code_interpreter_call.completed response.code_interpreter_call.in_progress
        response.code_interpreter_call.interpreting response.file_search_call.completed
        response.file_search_call.in_progress response.file_search_call.searching response.shell_call_command.added
        response.shell_call_command.delta response.shell_call_command.done response.shell_call_output_content.delta
        response.shell_call_output_content.done response.web_search_call.completed response.web_search_call.in_progress
        response.web_search_call.searching response.image_generation_call.completed
        response.image_generation_call.generating response.image_generation_call.in_progress
        response.image_generation_call.partial_image response.mcp_call_arguments.delta response.mcp_call_arguments.done
        response.mcp_call.completed response.mcp_call.failed response.mcp_call.in_progress
        response.mcp_list_tools.completed response.mcp_list_tools.failed response.mcp_list_tools.in_progress`,
      "a sign of progress": "response.compaction.compacting",
    },
  },
  "@anthropic-ai/sdk count parameter": {
    translated: {
      "": "messages model output_config system thinking tool_choice tools context_management output_format",
    },
    dropped: { [UNCOUNTED]: "cache_control speed billing_policy compaction" },
    refused: { "": "mcp_servers" },
  },
  "@anthropic-ai/sdk request block": {
    translated: {
      "": "text image document thinking redacted_thinking tool_use tool_result",
      "its text": "search_result compaction",
      "its tools are offered from then on": "tool_addition",
      "its tools are no longer offered": "tool_removal",
    },
    dropped: {
      [PROVIDERS_TOOL]: `server_tool_use web_search_tool_result web_fetch_tool_result code_execution_tool_result
        bash_code_execution_tool_result text_editor_code_execution_tool_result tool_search_tool_result advisor_tool_result
        mcp_tool_use mcp_tool_result mcp_tool_listing`,
      "a note on the provider's models": "fallback",
    },
    refused: { "": "container_upload" },
  },
  "@anthropic-ai/sdk tool": {
    translated: { "": "custom" },
    dropped: {
      "a tool of the protocol": `bash_20241022 bash_20250124 browser_toolset_20260801 memory_20250818
        computer_toolset_20260801 computer_20241022 computer_20250124 computer_20251124 text_editor_20241022
        text_editor_20250124 text_editor_20250429 text_editor_20250728`,
      [PROVIDERS_TOOL]: `code_execution_20250522 code_execution_20250825 code_execution_20260120 code_execution_20260521
        web_search_20250305 web_search_20260209 web_search_20260318 web_fetch_20250910 web_fetch_20260209
        web_fetch_20260309 web_fetch_20260318 tool_search_tool_bm25_20251119 tool_search_tool_bm25
        tool_search_tool_regex_20251119 tool_search_tool_regex advisor_20260301 mcp_toolset`,
    },
  },
  "@anthropic-ai/sdk answer block": {
    dropped: {
      [PROVIDERS_TOOL]: `server_tool_use web_search_tool_result web_fetch_tool_result code_execution_tool_result
        bash_code_execution_tool_result text_editor_code_execution_tool_result tool_search_tool_result container_upload
        advisor_tool_result mcp_tool_use mcp_tool_result mcp_tool_listing`,
      "only where the client asked for it": "compaction",
      "a note on the provider's models": "fallback",
    },
  },
  "@anthropic-ai/sdk stream delta": { dropped: { "part of a compaction block": "compaction_delta" } },
  "@anthropic-ai/sdk error type": {
    translated: {
      "the HTTP status decides": "memory_precondition_failed_error memory_path_conflict_error conflict_error",
    },
  },
  "@anthropic-ai/sdk error code": {
    passed: {
      "with `invalid_request`": `claude_code_key_creator_not_member claude_code_version_too_old
        request_body_encoding_invalid request_body_encoding_unsupported request_body_too_large_after_decoding
        available_tools_limit_exceeded compaction_block_ambiguous compaction_block_misplaced compaction_content_mismatch
        compaction_incomplete_turn compaction_nothing_to_summarize compaction_signature_invalid
        compaction_too_many_tool_references compaction_tool_changes_mismatch thread_already_continued
        thread_continue_in_flight thread_fingerprint_mismatch thread_unsupported_request tool_name_conflict
        tool_reference_unresolved thread_not_found workspace_human_review_disabled`,
    },
    translated: {
      "`provider_auth_failed`": `linked_organization_billing_unavailable linked_organization_spend_limit_reached
        sandbox_egress_restricted`,
      "`provider_rate_limited`": "enforced_spend_limit_reached ramp_limit_exceeded",
      "`provider_unavailable`": "cmek_context_unavailable cmek_key_unreachable compaction_unavailable",
    },
  },
  "@google/genai config member": {
    dropped: {
      "no client protocol has it": `routingConfig modelSelectionConfig safetySettings labels cachedContent mediaResolution
        speechConfig audioTimestamp audioTranscriptionConfig imageConfig enableEnhancedCivicAnswers modelArmorConfig
        continuationToken automaticContinuation generationOutputConfig`,
      "most models refuse it": "presencePenalty frequencyPenalty responseLogprobs logprobs",
      "Gemini's tiers are others": "serviceTier",
      "`responseJsonSchema` is sent instead": "responseSchema",
      "Gemini stores nothing for the gateway": "store",
      "an option of the SDK": "httpOptions abortSignal automaticFunctionCalling",
    },
    refused: { "other than text": "responseModalities" },
  },
  "@google/genai part member": {
    translated: {
      "": "text thought thoughtSignature functionCall",
      "in requests": "fileData functionResponse inlineData",
    },
    dropped: {
      [PROVIDERS_TOOL]: "toolCall toolResponse codeExecutionResult executableCode",
      "of media, which the gateway does not request": `audioTranscription mediaResolution videoMetadata mediaProcessing
        speechMetadata`,
      "a note on the part": "partMetadata",
    },
  },
  "@google/genai finish reason": { translated: { [ORDINARY]: "FINISH_REASON_UNSPECIFIED OTHER" } },
  "@google/genai block reason": {
    translated: {
      "`content_filter`": `BLOCKED_REASON_UNSPECIFIED SAFETY OTHER BLOCKLIST PROHIBITED_CONTENT IMAGE_SAFETY MODEL_ARMOR
        JAILBREAK`,
    },
  },
  "@google/genai thinking level": { dropped: { "never sent": "THINKING_LEVEL_UNSPECIFIED" } },
};
