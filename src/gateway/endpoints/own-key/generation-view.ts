// One answer in OpenRouter's format (openrouter.ai/docs/api/api-reference/generations/get-generation).

import { isoTime } from "../../../base/iso-time.ts";
import { knownCost, usesSomething } from "../../../catalog/known-cost.ts";
import type { LogRow } from "../../../store/usage/log.ts";
import { STOPPED } from "../../../store/usage/record.ts";

/**
 * The answer with every member that OpenRouter's SDK requires; what the gateway does not keep is null. `total_cost` and `usage` are
 * null where the price is unknown.
 */
export function openRouterGeneration(id: string, row: LogRow, isPriced: boolean) {
  const cost = knownCost(row, usesSomething(row), () => isPriced);
  return {
    data: {
      id,
      request_id: row.requestId,
      created_at: isoTime(row.createdAtMs),
      model: row.model,
      provider_name: row.provider,
      api_type: "completions",
      streamed: row.stream,
      cancelled: row.errorCode === STOPPED,
      total_cost: cost,
      usage: cost,
      latency: row.ttfbMs ?? row.latencyMs,
      generation_time: row.latencyMs,
      tokens_prompt: row.inputTokens,
      tokens_completion: row.outputTokens,
      native_tokens_prompt: row.inputTokens,
      native_tokens_completion: row.outputTokens,
      native_tokens_cached: row.cachedTokens,
      native_tokens_reasoning: row.reasoningTokens,
      native_tokens_completion_images: null,
      ...{ upstream_id: null, upstream_inference_cost: null, cache_discount: null, service_tier: row.service },
      ...{ finish_reason: null, native_finish_reason: null, moderation_latency: null, provider_responses: null },
      ...{ num_fetches: null, num_input_audio_prompt: null, num_media_completion: null, num_media_prompt: null },
      ...{ num_search_results: null, web_search_engine: null, router: null, preset_id: null, workspace_id: null },
      ...{ app_id: null, external_user: null, http_referer: null, user_agent: null, origin: "" },
      data_region: "global",
      is_byok: false,
    },
  };
}
