// Chooses how the program reaches providers: by its own client, or by `fetch` if the environment names a proxy.

import { lazily } from "../../base/lazily.ts";
import { environment } from "../../config/load.ts";
import { namesProxy } from "../../config/proxy-variables.ts";
import type { Transport } from "../provider.ts";
import type { WireClient } from "./client.ts";

// A start calls no provider.
const shared = lazily(() => {
  const { createWireClient }: typeof import("./client.ts") = require("./client.ts");
  return createWireClient();
});
const own = lazily(() => {
  const { ownTransport }: typeof import("./transport.ts") = require("./transport.ts");
  return ownTransport;
});

/** The client for all providers; undefined if they are reached through a proxy, which only `fetch` knows. */
export function networkClient(): WireClient | undefined {
  return namesProxy(environment()) ? undefined : CLIENT;
}

const CLIENT: WireClient = {
  call: (call) => shared().call(call),
  begin: (call, listener) => shared().begin(call, listener),
  get state() {
    return shared().state;
  },
  close: () => shared().close(),
};

/** The client in the form of `fetch`. */
export function networkTransport(client: WireClient, connectMs: number): Transport {
  return (url, init) => own()(client, connectMs)(url, init);
}
