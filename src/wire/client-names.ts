// What the parameters of a request are called in the client's own format: the names in `x-sallyport-dropped` and in the
// `param` of refusals. Dialects use the names of chat completions.

import { isFields } from "./check.ts";
import type { WireFormat } from "./format.ts";

/** Where a parameter may stand, as paths into the body; "": it is told only when one of the other paths is there. */
type Names = Readonly<Record<string, readonly string[]>>;

const LIMIT = ["max_completion_tokens", "max_tokens"];
const CHAT: Names = {
  max_tokens: LIMIT,
  max_completion_tokens: LIMIT,
  max_output_tokens: LIMIT,
  reasoning_effort: ["reasoning_effort", "reasoning"],
  reasoning: ["reasoning_effort", "reasoning"],
  reasoning_summary: [""],
  detail: ["messages.content.image_url.detail"],
};

const NAMES: Readonly<Record<WireFormat["name"], Names>> = {
  "openai-chat": CHAT,
  "openai-completions": { ...CHAT, top_logprobs: ["logprobs"] },
  "openai-responses": {
    max_tokens: ["max_output_tokens"],
    max_completion_tokens: ["max_output_tokens"],
    reasoning_effort: ["reasoning.effort", "reasoning"],
    reasoning_summary: ["reasoning.summary", "reasoning.generate_summary", ""],
    verbosity: ["text.verbosity"],
    response_format: ["text.format"],
    logprobs: ["top_logprobs", "include"],
    detail: ["input.content.detail"],
  },
  "anthropic-messages": {
    max_completion_tokens: ["max_tokens"],
    max_output_tokens: ["max_tokens"],
    stop: ["stop_sequences"],
    reasoning_effort: ["output_config.effort", "thinking"],
    reasoning: ["output_config.effort", "thinking"],
    reasoning_summary: ["thinking.display", ""],
    response_format: ["output_config.format", "output_format"],
    user: ["metadata.user_id"],
    parallel_tool_calls: ["tool_choice.disable_parallel_tool_use"],
  },
};

type Body = Readonly<Record<string, unknown>>;

/** The client's name for a parameter; undefined for one that the client never sent. */
export function clientName(format: WireFormat["name"], name: string, body: Body): string | undefined {
  if (format === "openai-responses" && (name === "messages" || name.startsWith("messages."))) {
    return `input${name.slice("messages".length)}`;
  }
  const candidates = NAMES[format][name];
  if (candidates === undefined) return name;
  return candidates.find((path) => path !== "" && isThere(body, path)) ?? (candidates.at(-1) || undefined);
}

function isThere(body: Body, path: string): boolean {
  let value: unknown = body;
  for (const key of path.split(".")) value = isFields(value) ? value[key] : undefined;
  return value !== undefined && value !== null;
}

/** The path of a piece that stands somewhere in the body, by identity; undefined when it is not there. */
export function pathOf(piece: object, body: unknown, path = ""): string | undefined {
  if (body === piece) return path;
  if (Array.isArray(body)) {
    for (const [i, element] of body.entries()) {
      const found = typeof element === "object" ? pathOf(piece, element, `${path}[${i}]`) : undefined;
      if (found !== undefined) return found;
    }
  } else if (isFields(body)) {
    for (const [key, value] of Object.entries(body)) {
      if (typeof value !== "object") continue;
      const found = pathOf(piece, value, path === "" ? key : `${path}.${key}`);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
