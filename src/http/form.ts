// Reads small multipart forms, whole.

import { ApiError } from "../base/errors.ts";
import { readBody } from "./body.ts";

/** Maximum number of parts; accepted forms have a file and a few fields. */
const PARTS_MAX = 100;

/** Reads the form of a request. Throws 400, 408 or 413. */
export async function readForm(request: Request, maxBytes: number): Promise<FormData> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\s*;/i.test(type)) {
    throw new ApiError("invalid_request", "Expected Content-Type: multipart/form-data.");
  }
  const bytes = await readBody(request, { maxBytes });
  if (hasManyParts(bytes, type)) {
    throw new ApiError("request_too_large", `The form has more than ${PARTS_MAX} parts.`);
  }
  try {
    return await new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { "content-type": type } }).formData();
  } catch (cause) {
    throw new ApiError("invalid_request", "The request body is not valid multipart/form-data.", { cause });
  }
}

/** Whether a form has too many parts. It can contain half a million empty ones, which take a second to read. */
function hasManyParts(bytes: Uint8Array, type: string): boolean {
  const [, quoted, plain = quoted] = /boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(type) ?? [];
  if (plain === undefined) return false;
  const form = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const line = `--${plain}`;
  let parts = 0;
  for (let at = form.indexOf(line); at >= 0; at = form.indexOf(line, at + line.length)) {
    if (++parts > PARTS_MAX + 1) return true;
  }
  return false;
}
