// Reads the directions of the messages format: changes of tools, effort and the time for which a system text is shown, all in
// system messages (platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages and /effort-per-message).

import { isRecord } from "../../base/json-object.ts";
import type { Directions, ToolChange } from "../../chat/directions.ts";
import type { SystemContent } from "../../chat/request.ts";
import { at, expectFields, expectString, type Fields, maybe } from "../check.ts";
import { readSystem } from "./blocks.ts";
import { readTool, toolName } from "./tools.ts";

/** Collects the directions of one request, whose messages are read in order. */
export class MessageDirections implements Directions {
  readonly changes: ToolChange[] = [];
  effort: string | undefined;
  /** The names of the tools that were declared so far. */
  readonly #names: Set<string>;

  constructor(names: Iterable<string>) {
    this.#names = new Set(names);
  }

  /** Reads a system message and returns what it says. `isPast`: a user's message follows. */
  system(message: Fields, path: string, isPast: boolean): SystemContent[] {
    const config = maybe(message, "output_config", expectFields, path) ?? {};
    this.effort = maybe(config, "effort", expectString, at(path, "output_config")) ?? this.effort;
    const where = at(path, "content");
    const { content } = message;
    // A message may consist of settings only.
    if ((content ?? null) === null && message["output_config"] != null) return [];
    const isCleared = isPast && message["clear_at"] === "next_user_message";
    if (typeof content === "string" && isCleared) return [];
    return readSystem(content, where).filter((part, i) => {
      if (part.type === "text") return !isCleared;
      return !this.#change(part.value, at(where, i));
    });
  }

  /** Tools that a result refers to are loaded. */
  user(content: unknown): void {
    for (const block of fieldsIn(content)) {
      if (block["type"] !== "tool_result") continue;
      for (const { type, tool_name: name } of fieldsIn(block["content"])) {
        if (type === "tool_reference" && typeof name === "string") this.changes.push({ type: "load", name });
      }
    }
  }

  /** A summary of earlier messages lists their changes of tools. */
  assistant(content: unknown, path: string): void {
    fieldsIn(content).forEach((block, i) => {
      if (block["type"] !== "compaction") return;
      const where = at(at(path, i), "tool_changes");
      for (const [j, change] of fieldsIn(block["tool_changes"]).entries()) this.#change(change, at(where, j));
    });
  }

  /** Takes a block that changes a tool. Returns false for other blocks, and for tools that only the protocol's servers know. */
  #change(block: Fields, path: string): boolean {
    const isAddition = block["type"] === "tool_addition";
    if (!isAddition && block["type"] !== "tool_removal") return false;
    const tool = isRecord(block["tool"]) ? block["tool"] : {};
    const { type, name, definition } = tool;
    if (type === "tool_definition" && isAddition) {
      const declared = readTool(definition, at(at(path, "tool"), "definition"));
      this.#names.add(toolName(declared.tool));
      // An addition offers the tool, whether or not its definition is deferred.
      this.changes.push({ type: "define", declared: { ...declared, deferred: false } });
      return true;
    }
    if (type !== "tool_reference" || typeof name !== "string" || !this.#names.has(name)) return false;
    this.changes.push({ type: isAddition ? "load" : "remove", name });
    return true;
  }
}

function fieldsIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
