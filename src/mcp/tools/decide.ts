// `decide`: typed questions, answered with probabilities.

import type { JsonRecord, McpTool } from "../tool.ts";

/** Maximum number of listed models. A model would have to read a longer list in full and could hardly choose from it. */
const MODELS_MAX = 50;

/** The tool `decide`. */
export const decideTool: McpTool = {
  name: "decide",
  title: "Answer questions with probabilities",
  description:
    "Answers typed questions about a text or JSON `state` with calibrated probabilities: `noul` (yes or no), `choice` (one " +
    "of named options) and `score` (a level of a scale). Use it to classify, route, rate or check many things cheaply and " +
    "alike, where a probability is worth more than a sentence. Each question has a key of yours and its answer has the same. " +
    "Not for facts that are not in `state` and not for writing text.",
  endpoint: "POST /v1/systemone",
  readOnly: true,
  openWorld: false,
  isOffered: async (resources) => (await resources.decisionModels()).length > 0,
  async schemas({ input, output }, models) {
    const known = (await models()).slice(0, MODELS_MAX);
    const properties = input["properties"] as Record<string, JsonRecord>;
    const model = { type: "string", examples: known, description: `Default ${known[0] ?? "the first model"}.` };
    const required = (input["required"] as string[]).filter((name) => name !== "model");
    return { input: { ...input, properties: { ...properties, model }, required }, output };
  },
  async run(args, { ask, decisionModels }) {
    const model = args["model"] ?? (await decisionModels())[0];
    return { data: await ask({ method: "POST", path: "/v1/systemone", body: { ...args, model } }) };
  },
};
