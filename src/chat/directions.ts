// Directions within a conversation: from their place on, tools are added or removed and settings change. A translated request has
// no place for them, so it gets what is in force at the end of the conversation.

import type { ChatRequest, ResponseFormat, Tool } from "./request.ts";

/** A tool as it was declared. `deferred`: the model does not see it before it is loaded. */
export interface DeclaredTool {
  tool: Tool;
  deferred: boolean;
}

/** A change of the tools: a definition, or a reference by name. */
export type ToolChange =
  | { type: "define"; declared: DeclaredTool }
  | { type: "load"; name: string }
  | { type: "remove"; name: string };

/** What a conversation directs, in the order of its messages. Of several settings of one kind, the last one is in force. */
export interface Directions {
  changes: ToolChange[];
  effort?: string | undefined;
  verbosity?: string | undefined;
  responseFormat?: ResponseFormat | undefined;
}

/** The request with the tools and settings in force at the end of its conversation. */
export function withDirections(
  chat: ChatRequest,
  declared: readonly DeclaredTool[],
  directions: Directions,
): ChatRequest {
  const { changes, effort, verbosity, responseFormat } = directions;
  return {
    ...chat,
    tools: toolsInForce(declared, changes),
    ...(effort === undefined ? {} : { reasoning: { ...chat.reasoning, effort } }),
    ...(verbosity === undefined ? {} : { verbosity }),
    ...(responseFormat === undefined ? {} : { responseFormat }),
  };
}

/**
 * The tools in force, in the order of their declaration. Deferred tools are among them once they are loaded. If the provider itself
 * searches for tools, no other provider can load them, so all of them are.
 */
function toolsInForce(declared: readonly DeclaredTool[], changes: readonly ToolChange[]): Tool[] {
  if (changes.length === 0 && !declared.some(({ deferred }) => deferred)) return declared.map(({ tool }) => tool);
  const entries = new Map<unknown, { tool: Tool; offered: boolean }>();
  const all = [...declared, ...changes.flatMap((change) => (change.type === "define" ? [change.declared] : []))];
  const searches = all.some(({ tool }) => tool.type === "server" && tool.name.startsWith("tool_search"));
  const define = ({ tool, deferred }: DeclaredTool) =>
    entries.set(keyOf(tool), { tool, offered: !deferred || searches });
  declared.forEach(define);
  for (const change of changes) {
    if (change.type === "define") define(change.declared);
    else {
      const entry = entries.get(keyOfName(change.name));
      if (entry !== undefined) entry.offered = change.type === "load";
    }
  }
  return [...entries.values()].flatMap(({ tool, offered }) => (offered ? [tool] : []));
}

/** What identifies a tool: its name, or itself for a tool of the provider's own without one. */
function keyOf(tool: Tool): unknown {
  if (tool.type !== "server") return keyOfName(tool.name, tool.namespace);
  const { name } = tool.value;
  return typeof name === "string" ? keyOfName(name) : tool;
}

function keyOfName(name: string, namespace = ""): string {
  return `${namespace}\u0000${name}`;
}
