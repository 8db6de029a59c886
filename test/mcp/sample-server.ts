// An MCP server over stdio, made with the official SDK. Its tools do what the test of servers needs.

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { sampleServer } from "./sample-tools.ts";

serveStdio(() => sampleServer());
