// What a tool of an MCP server said, as text for a model.

import type { CallToolResult } from "@modelcontextprotocol/client";

type Content = CallToolResult["content"][number];

/** The text of a result. What has no text is named. */
export function saidOf({ content, structuredContent, isError }: CallToolResult): { text: string; isError: boolean } {
  const texts = content.map(textOf).filter((text) => text !== "");
  if (texts.length === 0 && structuredContent !== undefined) texts.push(JSON.stringify(structuredContent));
  return { text: texts.join("\n"), isError: isError === true };
}

function textOf(part: Content): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "audio":
      return `[${part.type}: ${part.mimeType}]`;
    case "resource_link":
      return `[${part.name}](${part.uri})`;
    case "resource":
      return "text" in part.resource ? part.resource.text : `[resource: ${part.resource.uri}]`;
    default:
      return "";
  }
}
