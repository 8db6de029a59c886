// The form of a tool's answer, and of its failure, for MCP clients.

import type { ApiError } from "../base/errors.ts";
import { errorJson } from "../http/errors.ts";
import { ANSWER_CHARS_MAX, sizedData, sizedText } from "./sized.ts";
import type { JsonRecord, ToolAnswer } from "./tool.ts";

/** The result of a call in the protocol's form. */
export type ToolResult = {
  content: ({ type: "text"; text: string } | { type: "image"; data: string; mimeType: string })[];
  structuredContent?: JsonRecord;
  isError?: true;
};

/** Maximum number of characters of all images in an answer; many agents refuse more. */
const IMAGE_CHARS_MAX = 5_000_000;

/** The result of a call that succeeded. */
export function toolResult({ text, data, images = [] }: ToolAnswer): ToolResult {
  const sized = sizedData(data);
  const answerText = text ?? JSON.stringify(sized.data);
  const pictures = fitting(images);
  const notes = [
    ...(text === undefined && sized.isCut
      ? [`[The answer was cut after ${ANSWER_CHARS_MAX} characters. Request less at once.]`]
      : []),
    ...(pictures.length < images.length ? ["[A screenshot is too large to be shown.]"] : []),
  ];
  return {
    content: [
      { type: "text", text: [sizedText(answerText), ...notes].join("\n\n") },
      ...pictures.map((picture) => ({ type: "image" as const, data: picture, mimeType: "image/png" })),
    ],
    structuredContent: sized.data,
  };
}

function fitting(images: readonly string[]): readonly string[] {
  let left = IMAGE_CHARS_MAX;
  return images.filter(({ length }) => {
    if (length > left) return false;
    left -= length;
    return true;
  });
}

/** The result of a call that failed: the error in the form of the endpoint's own answer. */
export function failureResult(error: ApiError): ToolResult {
  const { retryAfterSeconds } = error.detail;
  const retry =
    retryAfterSeconds === undefined ? {} : { retry_after_seconds: Math.max(1, Math.ceil(retryAfterSeconds)) };
  const text = JSON.stringify({ ...errorJson(error), status: error.status, ...retry });
  // There is no structured content, since clients validate it against the schema of successful answers.
  return { content: [{ type: "text", text: sizedText(text) }], isError: true };
}
