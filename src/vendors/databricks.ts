// Databricks model serving. Sources: docs.databricks.com/aws/en/machine-learning/foundation-model-apis/api-reference and
// /api/workspace/servingendpoints/list (an unknown member is a 400) (2026-11).

import { OPENAI_ONLY } from "./openai.ts";
import type { Vendor } from "./vendor.ts";

/** Models are called by the names of serving endpoints, which are any text. */
export const databricks: Vendor = {
  name: "databricks",
  title: "Databricks",
  api: {
    kind: "openai",
    baseUrl: "",
    domains: ["cloud.databricks.com", "azuredatabricks.net", "gcp.databricks.com"],
    traceName: "databricks",
    variable: { name: "DATABRICKS_TOKEN", holds: "key", alone: false },
    keyBegins: "dapi",
    dialects: {
      "openai-chat": {
        max_tokens_field: "max_tokens",
        developer_role: false,
        free_model_names: true,
        refuses: ["user", "parallel_tool_calls", "service_tier", "metadata", ...OPENAI_ONLY],
      },
    },
    models: { path: "/models", list: "endpoints", id: ["name", "id"] },
    cloud: {
      origins: [{ origin: "https://{resource}" }],
      places: { resource: { variables: ["DATABRICKS_HOST"] } },
      credential: "key",
      offers: [
        { protocols: ["openai-chat"], path: "/serving-endpoints", example: "databricks-meta-llama-3-3-70b-instruct" },
      ],
      list: "/api/2.0/serving-endpoints",
    },
    note: "Needs `resource`, the workspace's host; a model is a serving endpoint's name.",
  },
};
