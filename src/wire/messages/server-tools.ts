// The blocks of tools that the gateway runs, in the messages format.

import type { Citation, ServerToolCall, ServerToolOutput } from "../../chat/server-tools.ts";

type Block = Record<string, unknown>;

/** The block of a call. */
export function callBlock({ callId, name, kind, server }: ServerToolCall, input: Readonly<Block>): Block {
  if (kind === "mcp") return { type: "mcp_tool_use", id: callId, name, server_name: server, input };
  return { type: "server_tool_use", id: callId, name, input };
}

/** The block of what the tool gave. */
export function resultBlock({ callId, kind }: ServerToolCall, output: ServerToolOutput): Block {
  if (output.type === "content") {
    const content = [{ type: "text", text: output.text }];
    return { type: "mcp_tool_result", tool_use_id: callId, is_error: output.isError, content };
  }
  const type = `${kind}_tool_result`;
  return { type, tool_use_id: callId, content: contentOf(type, output) };
}

function contentOf(type: string, output: Exclude<ServerToolOutput, { type: "content" }>): unknown {
  if (output.type === "error") return { type: `${type}_error`, error_code: output.code };
  if (output.type === "pages") {
    return output.pages.map(({ url, title, sealed }) => ({
      type: "web_search_result",
      url,
      title,
      encrypted_content: sealed(),
      page_age: null,
    }));
  }
  const { page, text, retrievedAt } = output;
  return {
    type: "web_fetch_result",
    url: page.url,
    content: {
      type: "document",
      source: { type: "text", media_type: "text/plain", data: text },
      title: page.title,
      citations: { enabled: false },
    },
    retrieved_at: retrievedAt,
    // Anthropic's clients carry unknown members back, as they do with the content of searches.
    encrypted_content: page.sealed(),
  };
}

/** A citation of a text. */
export function locationOf({ url, title, quote, sealed }: Citation): Block {
  return { type: "web_search_result_location", url, title, encrypted_index: sealed(), cited_text: quote };
}
