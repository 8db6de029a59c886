// Portkey as an upstream. Source: portkey.ai/docs/api-reference (its key in a header of its own; models are `@PROVIDER/MODEL`) (2026-11).

import type { Vendor } from "./vendor.ts";

export const portkey: Vendor = {
  name: "portkey",
  title: "Portkey",
  api: {
    kind: "openai",
    baseUrl: "https://api.portkey.ai/v1",
    domains: ["portkey.ai"],
    traceName: "portkey",
    variable: { name: "PORTKEY_API_KEY", holds: "key", alone: true },
    dialects: { "openai-chat": { cache_control: true } },
    auth: { header: "x-portkey-api-key" },
    models: { path: "/models" },
  },
};
