// Reads small multipart forms, whole.

import { ApiError } from "../base/errors.ts";
import { readBody } from "./body.ts";

/** Maximum number of parts; accepted forms have a file and a few fields. */
const PARTS_MAX = 100;

/** A file of a form. */
export interface FormFile {
  /** The last part of the client's file name without control characters; "" if the client gave none. */
  readonly name: string;
  /** The media type that the client states; may be empty. */
  readonly type: string;
  readonly bytes: number;
  read(): Promise<Uint8Array<ArrayBuffer>>;
}

/** The first value of each field of a form. */
export interface SentForm {
  /** Undefined if the field is missing or is a file. */
  text(field: string): string | undefined;
  /** Undefined if the field is missing or is a text. */
  file(field: string): FormFile | undefined;
  has(field: string): boolean;
}

/** Maximum length of a file name. */
const NAME_CHARS_MAX = 255;

/** Reads the form of a request. Throws 400, 408 or 413. */
export async function readForm(request: Request, maxBytes: number): Promise<SentForm> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\s*;/i.test(type)) {
    throw new ApiError("invalid_request", "Expected Content-Type: multipart/form-data.");
  }
  const bytes = await readBody(request, { maxBytes });
  if (hasManyParts(bytes, type)) {
    throw new ApiError("request_too_large", `The form has more than ${PARTS_MAX} parts.`);
  }
  try {
    const response = new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { "content-type": type } });
    return formOf(await response.formData());
  } catch (cause) {
    throw new ApiError("invalid_request", "The request body is not valid multipart/form-data.", { cause });
  }
}

function formOf(parts: FormData): SentForm {
  return {
    text(field) {
      const part = parts.get(field);
      return typeof part === "string" ? part : undefined;
    },
    file(field) {
      const part: unknown = parts.get(field);
      if (!(part instanceof Blob)) return undefined;
      // The runtime's files have no name at all where the client's is empty.
      const { name, type } = part as { readonly name?: unknown; readonly type?: unknown };
      return {
        name: typeof name === "string" ? plainName(name) : "",
        type: typeof type === "string" ? type : "",
        bytes: part.size,
        read: () => part.bytes(),
      };
    },
    has: (field) => parts.has(field),
  };
}

/** The last part of a client's file name, so that a program that saves the file under it does not leave its folder. */
function plainName(given: string): string {
  const last = given.split(/[/\\]/).at(-1) ?? "";
  const name = last
    .replace(/[\u0000-\u001f\u007f]/g, "")
    .slice(0, NAME_CHARS_MAX)
    // The end may have cut a pair of surrogates.
    .toWellFormed()
    .trim();
  return /^\.*$/.test(name) ? "" : name;
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
