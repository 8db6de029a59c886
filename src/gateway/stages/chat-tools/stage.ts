// Tools that the gateway runs within a chat: web search and web fetch, over any upstream. The code for them is loaded with the
// first request that names one.

import { lazily } from "../../../base/lazily.ts";
import type { ChatTurn, Stage } from "../../centre/stage.ts";
import type { ChatToolsDeps } from "./deps.ts";

/** Creates the stage. */
export function createChatToolsStage(deps: ChatToolsDeps): Stage {
  const opener = lazily(() => {
    const { createToolsOpener }: typeof import("./run.ts") = require("./run.ts");
    return createToolsOpener(deps);
  });
  return {
    name: "chat-tools",
    open: (turn) =>
      namesTool(turn) || holdsResults(turn) || deps.mcp.always(turn.caller).length > 0 ? opener()(turn) : undefined,
  };
}

/** Whether a request names a tool that is not a function of the client's. */
function namesTool({ chat, body }: ChatTurn): boolean {
  if (body["web_search_options"] != null || body["mcp_servers"] != null) return true;
  const { tools } = chat;
  // No iterator, since most requests of agents have many tools.
  for (let at = 0; at < tools.length; at++) if (tools[at]!.type === "server") return true;
  return false;
}

/** Whether the history holds calls or results of such tools. Few histories have parts of that type, so that nothing else is read. */
function holdsResults({ chat }: ChatTurn): boolean {
  for (const { role, content } of chat.messages) {
    if (role !== "assistant") continue;
    for (const part of content) if (part.type === "opaque" && isOfTool(String(part.value["type"]))) return true;
  }
  return false;
}

function isOfTool(type: string): boolean {
  return type.startsWith("web_search_") || type.startsWith("web_fetch_") || type.startsWith("mcp_");
}
