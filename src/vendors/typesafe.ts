// TypeSafe, which serves decision models only.

import type { Vendor } from "./vendor.ts";

export const typesafe: Vendor = {
  name: "typesafe",
  title: "TypeSafe",
  api: {
    kind: "systemone",
    baseUrl: "https://api.typesafe.ai/v1",
    domains: ["typesafe.ai"],
    traceName: "typesafe",
    variable: { name: "TYPESAFE_API_KEY", holds: "key", alone: true },
    dialects: {},
    decisions: { prices: [{ model: /^jev-/, input: 0.042 }] },
    note: "Decision models only.",
  },
};
