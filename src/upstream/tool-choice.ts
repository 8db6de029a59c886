// Texts for the prompt where a model has no parameter: to make it call a tool, or continue its turn.

import type { ToolChoice } from "../chat/request.ts";

/** Asks a model to continue if it cannot continue its own turn. */
export const GO_ON = "Go on from where your last message ends.";

/** The text for a choice that forces a call; otherwise undefined. */
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

/** The text that limits the choice to some tools. */
export function allowedInWords(names: readonly string[]): string {
  return `Of the tools, call none but these: ${names.map((name) => JSON.stringify(name)).join(", ")}.`;
}
