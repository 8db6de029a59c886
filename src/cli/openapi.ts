// `sallyport openapi`: the document that a running gateway serves at /openapi.json.

import { openApi } from "../app/endpoints.ts";
import { originOf } from "../http/listen.ts";
import type { Command } from "./command.ts";

/** Prints the OpenAPI document. */
export const openapi: Command = {
  summary: "print the OpenAPI document",
  examples: ["sallyport openapi > openapi.json"],
  details: "The server in it is `server.public_url`, else the address that the configuration listens on.",
  async run({ config, out }) {
    const { server } = config();
    const address = server.publicUrl || originOf(server.host, server.port, server.tls.cert !== "");
    out(`${JSON.stringify(openApi(address.replace(/\/+$/, "")), null, 2)}\n`);
    return 0;
  },
};
