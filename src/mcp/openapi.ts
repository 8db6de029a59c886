// The description of the MCP endpoint, for the documentation alone. The endpoint itself lists the tools, which differ from key to key.

import { Type } from "@sinclair/typebox";
import { anyObject } from "../http/endpoint.ts";
import type { NamelessText } from "../http/served-endpoint.ts";

const PROTOCOL_VERSION = "2026-07-28";

const ID = Type.Union([Type.String(), Type.Integer(), Type.Null()]);

const MESSAGE = Type.Object(
  {
    jsonrpc: Type.Literal("2.0"),
    id: Type.Optional(ID),
    method: Type.String({ description: "Such as `tools/list` or `tools/call`." }),
    params: Type.Optional(anyObject("Parameters of the method.")),
  },
  { $id: "McpRequest", additionalProperties: true, description: "A JSON-RPC request or notification." },
);

const ANSWER = Type.Object(
  {
    jsonrpc: Type.Literal("2.0"),
    id: Type.Optional(ID),
    result: Type.Optional(anyObject("The result of the method.")),
    error: Type.Optional(
      Type.Object(
        { code: Type.Integer(), message: Type.String(), data: Type.Optional(Type.Unknown()) },
        { $id: "McpError", description: "An error of the protocol. Failures of tools are results with `isError`." },
      ),
    ),
  },
  { $id: "McpResponse", additionalProperties: true },
);

const header = (name: string, description: string, example: string) => ({
  name,
  in: "header" as const,
  schema: Type.String({ description }),
  example,
});

const CALL: NamelessText = {
  group: "Web",
  summary: "The web tools for agents (Model Context Protocol)",
  description:
    "Streamable HTTP without sessions, for revision 2026-07-28 and those from 2024-11-05 to 2025-11-25. `tools/list` returns " +
    "the tools that the key can use. A `tools/call` counts as a request to the endpoint that does the tool's work, and its " +
    "failure is a result with `isError` that contains that endpoint's error. Errors of the protocol are JSON-RPC errors, with " +
    "numbers as their codes. A request from a page of another origin is refused unless `server.allowed_origins` lists it.",
  parameters: [
    header("Accept", "Both types, since a response may have either.", "application/json, text/event-stream"),
    header("MCP-Protocol-Version", "The revision; absent: 2025-03-26.", PROTOCOL_VERSION),
    header("Mcp-Method", "The same as `method`, from revision 2026-07-28 on.", "tools/list"),
    header("Mcp-Name", "The tool's name in `tools/call`, from revision 2026-07-28 on.", "scrape"),
  ],
  body: {
    schema: MESSAGE,
    examples: {
      tools: {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/list",
        params: {
          _meta: {
            "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
            "io.modelcontextprotocol/clientCapabilities": {},
          },
        },
      },
    },
  },
  answer: {
    description: "The response, or a stream of events that ends with it.",
    schema: ANSWER,
    events: { description: "Progress, then the response.", schema: ANSWER },
  },
  errors: ["origin_not_allowed"],
  otherFailures: [
    { status: "4XX", description: "an error of the protocol", schema: ANSWER },
    { status: "5XX", description: "an error of the protocol", schema: ANSWER },
  ],
};

/** The description by the name of the operation. */
export const MCP_TEXTS = { callMcp: CALL };
