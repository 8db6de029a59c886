// What a model is told in words where it has no parameter for it, or none any more: to call a tool, to continue its turn.

import type { ToolChoice } from "../chat/request.ts";

/** What a model that continues no turn of its own is asked. */
export const GO_ON = "Go on from where your last message ends.";

/** The words for a choice that forces a call; undefined for one that forces none. */
export function forcedInWords(choice: ToolChoice | undefined): string | undefined {
  switch (choice?.type) {
    case "required":
      return "Answer by calling at least one of the tools.";
    case "tool":
      return `Answer by calling the tool ${JSON.stringify(choice.name)}.`;
    case "allowed":
      return choice.mode === "required" ? `${allowedInWords(choice.names)} Answer by calling one of them.` : undefined;
    default:
      return undefined;
  }
}

/** The words for tools of which the others may not be called. */
export function allowedInWords(names: readonly string[]): string {
  return `Of the tools, call none but these: ${names.map((name) => JSON.stringify(name)).join(", ")}.`;
}
