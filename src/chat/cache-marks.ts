// The prompt-cache markers of the protocols. Anthropic's `cache_control` and OpenAI's `prompt_cache_breakpoint` mean the same: the
// prompt up to here is worth keeping. Each vendor has a usual lifetime (5 or 30 minutes) and a long one (one or 12 hours).
// Sources: platform.claude.com/docs/en/build-with-claude/prompt-caching, developers.openai.com/api/docs/guides/prompt-caching.

import type { CacheControl, ChatRequest } from "./request.ts";

/** OpenAI's long lifetime. */
export const LONG_BREAKPOINT = "12h";
/** Anthropic's long lifetime. */
const LONG_CACHE_CONTROL = "1h";

/** Whether a marker is OpenAI's; all others are Anthropic's. */
export function isBreakpoint(mark: CacheControl): boolean {
  return mark["type"] === undefined && mark["mode"] !== undefined;
}

/** The marker as Anthropic's `cache_control`. `lifetime`: OpenAI's for markers without one. */
export function asCacheControl(mark: CacheControl, lifetime?: unknown): CacheControl {
  if (!isBreakpoint(mark)) return mark;
  const isLong = (mark["ttl"] ?? lifetime) === LONG_BREAKPOINT;
  return { type: "ephemeral", ...(isLong ? { ttl: LONG_CACHE_CONTROL } : {}) };
}

/** The marker as OpenAI's `prompt_cache_breakpoint`. */
export function asBreakpoint(mark: CacheControl): CacheControl {
  if (isBreakpoint(mark)) return mark;
  return { mode: "explicit", ...(mark["ttl"] === LONG_CACHE_CONTROL ? { ttl: LONG_BREAKPOINT } : {}) };
}

/** Whether a request asks for a long lifetime, by a marker or for the whole prompt. Writing such a cache may cost more. */
export function asksForLongCache({
  messages,
  tools,
  extra,
}: Pick<ChatRequest, "messages" | "tools" | "extra">): boolean {
  return (
    [extra["cache_control"], extra["prompt_cache_options"]].some(isLong) ||
    tools.some((tool) => (tool.type === "server" ? holdsLongMark(tool.value) : hasLongMark(tool))) ||
    messages.some(({ content }) => content.some(hasLongMark))
  );
}

function hasLongMark(part: object): boolean {
  const { cacheControl, content, type, value } = part as { [name: string]: unknown };
  if (type === "opaque") return holdsLongMark(value);
  return isLong(cacheControl) || (Array.isArray(content) && content.some(hasLongMark));
}

/** Whether there is a marker anywhere in a value as the client sent it. */
function holdsLongMark(value: unknown): boolean {
  const open = [value];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one !== "object" || one === null) continue;
    const { cache_control, prompt_cache_breakpoint } = one as Readonly<Record<string, unknown>>;
    if (isLong(cache_control) || isLong(prompt_cache_breakpoint)) return true;
    for (const inner of Object.values(one)) open.push(inner);
  }
  return false;
}

function isLong(mark: unknown): boolean {
  if (typeof mark !== "object" || mark === null || !("ttl" in mark)) return false;
  return mark.ttl === LONG_CACHE_CONTROL || mark.ttl === LONG_BREAKPOINT;
}
