// The expected handling of the parameters of Gemini's API, written by hand from ai.google.dev/api/generate-content (2026-11).

import {
  calls,
  chatTools,
  claudeTools,
  config,
  flatTools,
  type Json,
  LOGPROBS,
  ownSearches,
  type Row,
  row,
  schema,
  searches,
  threadRows,
} from "./row.ts";

/** The members of a request. */
export const GEMINI_MEMBERS =
  "contents systemInstruction tools toolConfig generationConfig safetySettings cachedContent labels serviceTier store".split(
    " ",
  );

const google = { type: "OBJECT", properties: { a: { type: "STRING", nullable: true } }, propertyOrdering: ["a"] };
const declared = [{ functionDeclarations: [{ name: "f", description: "d", parametersJsonSchema: schema }] }];
const choice = (mode: Json): Json => ({ tools: declared, ...calls(mode) });
const dropped = (name: string, sends: Json): Row => row(name, sends, "dropped", "dropped", "dropped", "same");
const PICTURE = "https://pictures.example/a.png";
const thinks = (members: Json) => config({ thinkingConfig: members });

/** The parameters. */
export const GEMINI: readonly Row[] = [
  row(
    "contents",
    { contents: { parts: { text: "hello" } } },
    { messages: [{ content: "hello" }] },
    "ours",
    "ours",
    "same",
  ),
  row(
    "systemInstruction",
    { systemInstruction: { parts: [{ text: "Be brief." }] } },
    { messages: [{ role: "system", content: "Be brief." }, {}] },
    "ours",
    "ours",
    "same",
  ),
  row("tools", { tools: declared }, chatTools, flatTools, claudeTools, "same"),
  row(
    "tools",
    { tools: [{ functionDeclarations: [{ name: "f", parameters: google }] }] },
    {
      tools: [
        {
          function: { name: "f", parameters: { type: "object", properties: { a: { type: ["string", "null"] } } } },
        },
      ],
    },
    "ours",
    "ours",
    "same",
  ),
  row(
    "tools.googleSearch",
    { tools: [{ googleSearch: {} }] },
    searches.chat,
    ownSearches.responses,
    ownSearches.claude,
    {
      tools: [{ googleSearch: {} }],
    },
  ),
  row("toolConfig", choice({ mode: "ANY" }), { tool_choice: "required" }, { tool_choice: "required" }, "ours", "same"),
  row(
    "toolConfig",
    choice({ mode: "ANY", allowedFunctionNames: ["f"] }),
    { tool_choice: { type: "function", function: { name: "f" } } },
    { tool_choice: { type: "function", name: "f" } },
    { tool_choice: { type: "tool", name: "f" } },
    "same",
  ),
  row("toolConfig", choice({ mode: "NONE" }), { tool_choice: "none" }, { tool_choice: "none" }, "ours", "same"),
  row(
    "toolConfig.functionCallingConfig.mode",
    choice({ mode: "SOMETIMES" }),
    "refused",
    "refused",
    "refused",
    "refused",
  ),
  dropped("safetySettings", {
    safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
  }),
  row("cachedContent", { cachedContent: "cachedContents/x" }, "refused", "refused", "refused", "same"),
  dropped("labels", { labels: { a: "b" } }),
  dropped("serviceTier", { serviceTier: "flex" }),
  dropped("store", { store: true }),
  dropped("aNewOne", { aNewOne: { x: 1 } }),
  dropped("generationConfig.speechConfig", config({ speechConfig: { languageCode: "de" } })),
  row(
    "generationConfig.maxOutputTokens",
    config({ maxOutputTokens: 50 }),
    { max_tokens: 50 },
    { max_output_tokens: 50 },
    { max_tokens: 50 },
    "same",
  ),
  row(
    "generationConfig.stopSequences",
    config({ stopSequences: ["END"] }),
    { stop: ["END"] },
    "ours",
    { stop_sequences: ["END"] },
    "same",
  ),
  row(
    "generationConfig.responseJsonSchema",
    config({ responseMimeType: "application/json", responseJsonSchema: schema }),
    { response_format: { type: "json_schema" } },
    "ours",
    "ours",
    "same",
  ),
  row(
    "generationConfig.responseSchema",
    config({ responseMimeType: "application/json", responseSchema: google }),
    { response_format: { type: "json_schema" } },
    "ours",
    "ours",
    "same",
  ),
  row(
    "generationConfig.responseMimeType",
    config({ responseMimeType: "application/json" }),
    { response_format: { type: "json_object" } },
    "ours",
    "ours",
    "same",
  ),
  row(
    "generationConfig.responseLogprobs",
    config({ responseLogprobs: true }),
    { logprobs: true },
    { include: LOGPROBS },
    "dropped",
    "same",
  ),
  row(
    "generationConfig.thinkingConfig",
    thinks({ thinkingLevel: "HIGH", includeThoughts: true }),
    { reasoning_effort: "high" },
    { reasoning: { effort: "high", summary: "auto" } },
    "ours",
    "same",
  ),
  row("generationConfig.candidateCount", config({ candidateCount: 2 }), { n: 2 }, "dropped", "dropped", "same"),
  row("generationConfig.seed", config({ seed: 7 }), { seed: 7 }, "dropped", "dropped", "same"),
  row(
    "contents.parts.fileData",
    { contents: [{ parts: [{ fileData: { mimeType: "image/png", fileUri: PICTURE } }] }] },
    { messages: [{ content: [{ type: "image_url", image_url: { url: PICTURE } }] }] },
    { input: [{ content: [{ type: "input_image", image_url: PICTURE }] }] },
    { messages: [{ content: [{ type: "image", source: { type: "url", url: PICTURE } }] }] },
    "same",
  ),
  row(
    "contents.parts.thoughtSignature",
    {
      contents: [
        { parts: [{ text: "hi" }] },
        { role: "model", parts: [{ text: "so", thought: true, thoughtSignature: "c2ln" }, { text: "yes" }] },
        { parts: [{ text: "and?" }] },
      ],
    },
    { messages: [{ content: "hi" }, { content: "yes" }, { content: "and?" }] },
    "ours",
    "ours",
    "same",
  ),
  row(
    "generationConfig.responseModalities",
    config({ responseModalities: ["IMAGE"] }),
    { modalities: ["image"] },
    { tools: [{ type: "image_generation" }], tool_choice: { type: "image_generation" } },
    "refused",
    "same",
  ),
  row(
    "generationConfig.responseModalities",
    config({ responseModalities: ["MODALITY_UNSPECIFIED"] }),
    "ours",
    "ours",
    "ours",
    "same",
  ),
  row(
    "generationConfig.responseModalities",
    config({ responseModalities: ["AUDIO"] }),
    "ours",
    "refused",
    "refused",
    "same",
  ),
  row("generationConfig.thinkingConfig", thinks({ thinkingBudget: 2048 }), "ours", "ours", "ours", "same"),
  ...threadRows("thread_id", "conversation_id"),
];
