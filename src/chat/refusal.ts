// Why a model or its vendor refused to answer, as text of its own kind. Formats of OpenAI have a place for it.

import type { ChatEvent } from "./event.ts";

/** The events of a refusal's explanation, before the finish; none without an explanation. */
export function refusalEvents(choice: number, id: string, text: string | undefined): ChatEvent[] {
  if (!text) return [];
  return [
    { type: "text-start", choice, id, refusal: true },
    { type: "text-delta", choice, id, text },
    { type: "text-end", choice, id },
  ];
}
