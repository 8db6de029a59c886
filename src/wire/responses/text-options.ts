// Reads the text options of the responses format: the format of the answer and its verbosity.

import type { ResponseFormat } from "../../chat/request.ts";
import {
  at,
  expectBoolean,
  expectFields,
  expectString,
  expectText,
  type Fields,
  given,
  maybe,
  need,
  reject,
} from "../check.ts";

/** Reads the member `text` of an item that updates it. */
export function readTextOptions(
  fields: Fields,
  path: string,
): { responseFormat: ResponseFormat | undefined; verbosity: string | undefined } {
  const text = maybe(fields, "text", expectFields, path) ?? {};
  return {
    responseFormat: readTextFormat(fields, path),
    verbosity: maybe(text, "verbosity", expectString, at(path, "text")),
  };
}

/** Reads the format of the answer in the member `text`. */
export function readTextFormat(fields: Fields, path = ""): ResponseFormat | undefined {
  const text = maybe(fields, "text", expectFields, path) ?? {};
  const where = at(path, "text");
  const format = maybe(text, "format", expectFields, where);
  return format === undefined ? undefined : readFormat(format, at(where, "format"));
}

function readFormat(format: Fields, path: string): ResponseFormat {
  const type = need(format, "type", expectString, path);
  switch (type) {
    case "text":
    case "json_object":
      return { type };
    case "json_schema":
      return {
        type,
        name: need(format, "name", expectText, path),
        schema: need(format, "schema", expectFields, path),
        ...given({
          strict: maybe(format, "strict", expectBoolean, path),
          description: maybe(format, "description", expectString, path),
        }),
      };
    default:
      return reject(at(path, "type"), `Invalid '${path}.type': expected 'text', 'json_object' or 'json_schema'.`);
  }
}
