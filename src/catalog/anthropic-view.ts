// The members of a model that only Anthropic's clients read. Their SDK expects each of them.

import { factsOf, nameParts } from "../vendors/model-facts.ts";
import type { Effort } from "../vendors/model-family.ts";
import { asShown, type CatalogModel } from "./models.ts";

interface Support {
  supported: boolean;
}

/** The members, as `ModelInfo` of Anthropic's SDK has them. */
export interface AnthropicMembers {
  type: "model";
  capabilities: Readonly<Record<string, Support & Readonly<Record<string, unknown>>>>;
  lifecycle: "active";
  deprecated_at: null;
  retires_at: null;
  line: string | null;
  max_input_tokens: number | null;
  max_tokens: number | null;
}

/** The members of one model. A limit that is neither known nor inferred is null. */
export function anthropicMembers(model: CatalogModel): AnthropicMembers {
  const { known, inferred } = model;
  const shown = asShown(model);
  const [, ...line] = nameParts(model.routes[0]?.model ?? model.id)?.line.split(" ") ?? [];
  return {
    type: "model",
    capabilities: capabilitiesOf(shown),
    lifecycle: "active",
    deprecated_at: null,
    retires_at: null,
    line: line.join(" ") || null,
    max_input_tokens: known.contextLength || inferred.contextLength !== undefined ? shown.contextLength : null,
    max_tokens: known.maxOutputTokens || inferred.maxOutputTokens !== undefined ? shown.maxOutputTokens : null,
  };
}

function capabilitiesOf(shown: CatalogModel): AnthropicMembers["capabilities"] {
  const facts = factsOf(shown.routes[0]?.model ?? shown.id);
  const thinks = shown.supportsReasoning;
  const has = (effort: Effort) => ({ supported: thinks && facts.efforts.includes(effort) });
  const no = { supported: false };
  return {
    batch: no,
    citations: no,
    code_execution: no,
    context_management: {
      supported: true,
      clear_thinking_20251015: { supported: true },
      clear_tool_uses_20250919: { supported: true },
      compact_20260112: { supported: true },
    },
    effort: {
      supported: thinks && facts.efforts.length > 0,
      low: has("low"),
      medium: has("medium"),
      high: has("high"),
      xhigh: has("xhigh"),
      max: has("max"),
    },
    image_input: { supported: shown.supportsVision },
    pdf_input: no,
    server_tools: { ...no, code_execution: no, web_search: no },
    structured_outputs: { supported: shown.kind === "chat" },
    thinking: {
      supported: thinks,
      types: {
        adaptive: { supported: thinks },
        between_tools: { supported: facts.thinkingOff === "between_tools" },
        disabled: { supported: thinks && facts.thinkingOff !== "never" },
        enabled: { supported: thinks },
      },
    },
  };
}
