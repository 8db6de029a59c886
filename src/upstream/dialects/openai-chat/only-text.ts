// Frames that hold a piece of text or reasoning and nothing else, as nearly all of a stream do.

import { isRecord } from "../../../base/json-object.ts";
import { pagesBeside } from "./pages-beside.ts";
import { usagesIn } from "./usage.ts";

/** The text or reasoning of a chunk whose only choice adds nothing else, and beside which nothing is told. */
export function onlyText(chunk: Readonly<Record<string, unknown>>): string | undefined {
  if (usagesIn(chunk).length > 0 || pagesBeside(chunk) !== undefined || chunk["error"] != null) return undefined;
  const { choices } = chunk;
  const choice = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined;
  if (!isRecord(choice) || !isRecord(choice["delta"]) || choice["finish_reason"] != null) return undefined;
  const { content, reasoning_content: thought, role: _role, ...others } = choice["delta"];
  if (Object.values(others).some((value) => value != null)) return undefined;
  const text = content == null || content === "" ? thought : content;
  const isOnly = text === content ? thought == null || thought === "" : true;
  return typeof text === "string" && isOnly ? text : undefined;
}
