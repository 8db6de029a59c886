// Reads the text options of the responses format: the format of the answer and its verbosity.

import type { ResponseFormat } from "../../chat/request.ts";
import * as check from "../check.ts";

/** Reads the member `text` of an item that updates it. */
export function readTextOptions(
  fields: check.Fields,
  path: string,
): { responseFormat: ResponseFormat | undefined; verbosity: string | undefined } {
  const text = check.maybe(fields, "text", check.expectFields, path) ?? {};
  return {
    responseFormat: readTextFormat(fields, path),
    verbosity: check.maybe(text, "verbosity", check.expectString, check.at(path, "text")),
  };
}

/** Reads the format of the answer in the member `text`. */
export function readTextFormat(fields: check.Fields, path = ""): ResponseFormat | undefined {
  const text = check.maybe(fields, "text", check.expectFields, path) ?? {};
  const where = check.at(path, "text");
  const format = check.maybe(text, "format", check.expectFields, where);
  return format === undefined ? undefined : readFormat(format, check.at(where, "format"));
}

function readFormat(format: check.Fields, path: string): ResponseFormat {
  const type = check.need(format, "type", check.expectString, path);
  switch (type) {
    case "text":
    case "json_object":
      return { type };
    case "json_schema":
      return {
        type,
        name: check.need(format, "name", check.expectText, path),
        schema: check.need(format, "schema", check.expectFields, path),
        ...check.given({
          strict: check.maybe(format, "strict", check.expectBoolean, path),
          description: check.maybe(format, "description", check.expectString, path),
        }),
      };
    default:
      return check.reject(
        check.at(path, "type"),
        `Invalid '${path}.type': expected 'text', 'json_object' or 'json_schema'.`,
      );
  }
}
