// Passes the tools of chats the web endpoints: each use is admitted and counted as a call of the same key. Wiring only.

import type { Caller } from "../gateway/admission/caller.ts";
import type { createCallers } from "../gateway/admission/callers.ts";
import type { ChatWebTools, ToolCaller, WebHit } from "../gateway/stages/chat-tools/deps.ts";
import { createInnerCalls } from "../http/inner-call.ts";
import type { createWeb } from "../web/assemble.ts";
import type { Foundation } from "./foundation.ts";
import { chatMcpServers, innerCallerOf } from "./mcp-servers.ts";

/** How many pages a search gives. */
const HITS = 5;
/** How long a search with the pages that it finds may take, and the reading of one page. */
const SEARCH_SECONDS = 15;

interface ChatWebDeps extends Pick<Foundation, "observer" | "log"> {
  readonly callers: Pick<ReturnType<typeof createCallers>, "vouched">;
  readonly web: Pick<ReturnType<typeof createWeb>, "answers">;
}

/** The tools that the gateway runs within a chat. */
export function chatTools(
  base: Foundation,
  { web, ...servers }: { web: ChatWebDeps["web"] } & Pick<Parameters<typeof chatMcpServers>[0], "servers" | "guards">,
) {
  return { web: chatWebTools({ ...base, web }), mcp: chatMcpServers({ ...base, ...servers }) };
}

/** The web endpoints as tools of chats. */
function chatWebTools({ callers, web, observer, log }: ChatWebDeps): ChatWebTools {
  const { search, scrape } = web.answers;
  const answers = {
    "/v1/search": callers.vouched((request) => search({ request })),
    "/v1/scrape": callers.vouched((request) => scrape({ request })),
  };
  const ask = async (path: keyof typeof answers, body: object, { caller, exchange, signal }: ToolCaller) => {
    const call = createInnerCalls({
      handle: (request) => answers[path](request, caller as Caller),
      via: "chat",
      finished: observer.finished,
      unexpected: ({ requestId }, error) => log.error("unexpected error", { request_id: requestId, error }),
    });
    return call(innerCallerOf(exchange), { method: "POST", path, body, signal }).answer;
  };
  return {
    async search(query, by) {
      const body = { query, limit: HITS, include_content: true, timeout_seconds: SEARCH_SECONDS };
      const { results } = await ask("/v1/search", body, by);
      return (results as readonly Record<string, unknown>[]).map(({ url, title, content, full_content: full }) =>
        hitOf(url, title, full ?? content),
      );
    },
    async fetch(url, by) {
      const { data } = await ask("/v1/scrape", { url, formats: ["markdown"] }, by);
      const { markdown, metadata } = data as Record<string, unknown>;
      const { title, sourceURL } = (metadata ?? {}) as { title?: unknown; sourceURL?: unknown };
      return { ...hitOf(url, title, markdown), reached: String(sourceURL ?? url) };
    },
  };
}

function hitOf(url: unknown, title: unknown, text: unknown): WebHit {
  return { url: String(url), title: String(title ?? url), text: String(text ?? "") };
}
