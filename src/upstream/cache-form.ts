// In which form a provider gets the prompt-cache markers of OpenAI's protocols.

import { asBreakpoint, asCacheControl, isBreakpoint } from "../chat/cache-marks.ts";
import type { CacheControl, ChatMessage, ChatRequest, Tool, ToolResultPart } from "../chat/request.ts";
import { factsOf } from "../vendors/model-facts.ts";
import type { RequestContext } from "./dialect.ts";
import type { Places } from "./foreign.ts";

/** The form of markers: OpenAI's, Anthropic's, or none. */
export type CacheForm = "breakpoint" | "cache_control" | "none";

/** The form for a model of a provider. */
export function cacheFormFor({ quirks, model }: Pick<RequestContext, "model" | "quirks">): CacheForm {
  if (quirks.cache_breakpoints === true && factsOf(model).cacheBreakpoints) return "breakpoint";
  return quirks.cache_control === true ? "cache_control" : "none";
}

/** Where markers of a form can be. */
export function markedPlaces(form: CacheForm): Places["cacheMarkers"] {
  if (form === "none") return "nowhere";
  return form === "breakpoint" ? "input" : "everywhere";
}

/** The member of a part for a marker that `inForm` has converted. */
export function markOf({ cacheControl: mark }: { cacheControl?: CacheControl }): Record<string, unknown> {
  if (mark === undefined) return {};
  return isBreakpoint(mark) ? { prompt_cache_breakpoint: mark } : { cache_control: mark };
}

interface Marked {
  cacheControl?: CacheControl;
}

/** The messages and tools with all markers in one form. Strict servers refuse unknown ones (musistudio/claude-code-router#377). */
export function inForm(chat: Pick<ChatRequest, "messages" | "tools">, form: CacheForm) {
  return {
    messages: chat.messages.map((message) => messageInForm(message, form)),
    tools: chat.tools.map((tool): Tool => {
      if (tool.type !== "function") return tool;
      // OpenAI's tools have no place for a breakpoint.
      return partInForm(tool, form === "breakpoint" ? "none" : form);
    }),
  };
}

function messageInForm(message: ChatMessage, form: CacheForm): ChatMessage {
  if (message.role === "assistant" || !message.content.some(isMarked)) return message;
  const content = message.content.map((part) => {
    const own = partInForm(part as Marked, form);
    if (!("content" in part)) return own;
    return { ...own, content: part.content.map((inner) => partInForm(inner as Marked, form)) };
  });
  return { ...message, content } as ChatMessage;
}

function isMarked(part: object): boolean {
  return "cacheControl" in part || ("content" in part && (part as ToolResultPart).content.some(isMarked));
}

function partInForm<P extends Marked>(part: P, form: CacheForm): P {
  const { cacheControl: mark, ...rest } = part;
  if (mark === undefined) return part;
  if (form === "none") return rest as P;
  return { ...part, cacheControl: form === "breakpoint" ? asBreakpoint(mark) : asCacheControl(mark) };
}
