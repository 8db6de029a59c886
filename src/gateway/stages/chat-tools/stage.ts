// Tools that the gateway runs within a chat: web search and web fetch, over any upstream. The code for them is loaded with the
// first request that names one.

import { lazily } from "../../../base/lazily.ts";
import { type ChatTurn, mayContain, type Stage } from "../../centre/stage.ts";
import type { ChatToolsDeps } from "./deps.ts";

/** The beginning of everything that the gateway seals for clients. */
const SEALED = "sallyport";

/** Creates the stage. */
export function createChatToolsStage(deps: ChatToolsDeps): Stage {
  const opener = lazily(() => {
    const { createToolsOpener }: typeof import("./run.ts") = require("./run.ts");
    return createToolsOpener(deps);
  });
  return {
    name: "chat-tools",
    open: (turn) => (namesTool(turn) || holdsResults(turn) ? opener()(turn) : undefined),
  };
}

/** Whether a request names a tool that is not a function of the client's. */
function namesTool({ chat, body }: ChatTurn): boolean {
  if (body["web_search_options"] != null) return true;
  const { tools } = chat;
  // No iterator, since most requests of agents have many tools.
  for (let at = 0; at < tools.length; at++) if (tools[at]!.type === "server") return true;
  return false;
}

/** Whether the history may hold results of such tools. A history that was inserted is not in the text. */
function holdsResults(turn: ChatTurn): boolean {
  if (turn.before === undefined && !mayContain(turn, SEALED)) return false;
  return turn.chat.messages.some(
    ({ role, content }) =>
      role === "assistant" &&
      content.some((part) => {
        if (part.type !== "opaque") return false;
        const type = String(part.value["type"]);
        return type.startsWith("web_search_") || type.startsWith("web_fetch_");
      }),
  );
}
