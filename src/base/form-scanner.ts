// Reads multipart/form-data while it arrives: small fields are kept, and files are passed on. The bytes are passed on
// unchanged, so anything that two parsers could read differently is refused. Otherwise a client could hide a field from
// the checks here that a provider then reads.

import { ApiError } from "./errors.ts";

/** The limits for the content of one field and of all fields together. Prompts are the longest fields. */
const FIELD_BYTES_MAX = 256 * 1024;
const FIELDS_BYTES_MAX = 1024 * 1024;
const PART_HEADERS_BYTES_MAX = 8 * 1024;
const PARTS_MAX = 200;

const CRLF = "\r\n";
/** The characters that RFC 2046 allows in a boundary, except the space, which some parsers cut off. */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=?]{1,70}$/;
/** Names in the style of OpenAI's clients: `timestamp_granularities[]`, `chunking_strategy[type]`. */
const NAME = String.raw`[A-Za-z0-9_.-]+(?:\[[A-Za-z0-9_.-]*\])*`;
const DISPOSITION = new RegExp(
  String.raw`^form-data;\s*name=(?:"(${NAME})"|(${NAME}))(;\s*filename=(?:"(?:[^"\\\r\n]|\\.)*"|[^\s";]+))?(;\s*filename\*=[^\s";]+)?\s*$`,
  "i",
);
const HEADER_LINE = /^([A-Za-z0-9-]+):[ \t]*((?:[^\r\n\0 \t][^\r\n\0]*)?)$/;

/** A boundary without quotes is only looked for in a run of its characters that goes to the end, so that each is read once. */
const FORM_TYPE =
  /^multipart\/form-data\s*;.*?(?:\bboundary="([^"]*)"|(?<![^\s;"])(?=[^\s;"]+\s*$)[^\s;"]*?\bboundary=([^\s;"]+))\s*$/i;

/** The boundary in the content type of a form. Throws 400 for another type. */
export function formBoundary(type: string): string {
  const [, quoted, plain] = FORM_TYPE.exec(type) ?? [];
  const boundary = quoted ?? plain;
  if (boundary !== undefined && BOUNDARY.test(boundary)) return boundary;
  throw new ApiError("invalid_request", "Expected Content-Type: multipart/form-data with a boundary.");
}

/** A text field, encoded as a part of a form. */
export function fieldPart(boundary: string, name: string, value: string): Buffer {
  return Buffer.from(`--${boundary}${CRLF}Content-Disposition: form-data; name="${name}"${CRLF}${CRLF}${value}${CRLF}`);
}

/** Splits a form into its parts. Throws `ApiError` 400 or 413. */
export class FormScanner {
  /** The fields that were read so far. */
  readonly fields = new Map<string, string[]>();
  /** The names of the files so far, in order. */
  readonly files: string[] = [];
  /** The number of bytes in the parts that were withheld. */
  withheldBytes = 0;
  readonly #delimiter: Buffer;
  readonly #withheld: string;
  readonly #heard: ((bytes: Uint8Array) => void) | undefined;
  #state: "start" | "headers" | "field" | "file" | "end" = "start";
  #rest: Buffer = Buffer.alloc(0);
  #parts = 0;
  #fieldBytes = 0;
  /** The number of bytes after the closing boundary. */
  #endBytes = 0;
  /** The field that is being read: its head, and its content so far. */
  #field: { readonly name: string; readonly head: Buffer; readonly content: Buffer[]; bytes: number } | undefined;

  /** `withheld`: the name of the field that is not passed on. `heard`: called with the content of files. */
  constructor(boundary: string, withheld: string, heard?: (bytes: Uint8Array) => void) {
    this.#delimiter = Buffer.from(`--${boundary}`);
    this.#withheld = withheld;
    this.#heard = heard;
  }

  /** Whether the form is complete. */
  get ended(): boolean {
    return this.#state === "end";
  }

  /** Reads a chunk, and appends to `out` the bytes that are passed on. */
  push(chunk: Uint8Array, out: Uint8Array[]): void {
    const given = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#rest = this.#rest.byteLength === 0 ? given : Buffer.concat([this.#rest, given]);
    while (this.#step(out));
  }

  /** Called at the end of the body. Throws 400 if the form is not complete. */
  end(): void {
    if (!this.ended) throw new ApiError("invalid_request", "The form ends early: its closing boundary is missing.");
  }

  /** One step; false when more bytes are needed. */
  #step(out: Uint8Array[]): boolean {
    switch (this.#state) {
      case "start":
        if (this.#rest.byteLength < this.#delimiter.byteLength + 2) return false;
        if (this.#rest.indexOf(this.#delimiter) !== 0) throw malformed("it does not begin with its boundary");
        return this.#take(0, out);
      case "headers":
        return this.#readHeaders(out);
      case "end":
        return this.#readEnd(out);
      default:
        return this.#readContent(out);
    }
  }

  /** Reads the boundary at `at`; the bytes after it show whether another part follows. */
  #take(at: number, out: Uint8Array[]): boolean {
    const after = at + this.#delimiter.byteLength;
    const mark = this.#rest.toString("latin1", after, after + 2);
    if (mark !== CRLF && mark !== "--") throw malformed("a part contains its boundary");
    this.#rest = this.#rest.subarray(after + 2);
    if (mark === CRLF) {
      this.#state = "headers";
      return true;
    }
    out.push(this.#delimiter, Buffer.from("--"));
    this.#state = "end";
    return true;
  }

  /** Allows a line break after the closing boundary. Any other bytes could be read as a further part. */
  #readEnd(out: Uint8Array[]): false {
    const text = this.#rest.toString("latin1");
    if (text === CRLF.slice(this.#endBytes, this.#endBytes + text.length)) {
      this.#endBytes += text.length;
      if (text !== "") out.push(this.#rest);
      this.#rest = Buffer.alloc(0);
      return false;
    }
    throw malformed("there are bytes after its end");
  }

  #readHeaders(out: Uint8Array[]): boolean {
    const end = this.#rest.indexOf(`${CRLF}${CRLF}`);
    if (end > PART_HEADERS_BYTES_MAX || (end < 0 && this.#rest.byteLength > PART_HEADERS_BYTES_MAX)) {
      throw malformed("the headers of a part are too long");
    }
    if (end < 0) return false;
    this.#parts += 1;
    if (this.#parts > PARTS_MAX) {
      throw new ApiError("request_too_large", `The form has more than ${PARTS_MAX} parts.`);
    }
    const { name, isFile } = readPart(this.#rest.toString("utf8", 0, end));
    const head = Buffer.concat([this.#delimiter, Buffer.from(CRLF), this.#rest.subarray(0, end + 4)]);
    this.#rest = this.#rest.subarray(end + 4);
    if (isFile) {
      if (name === this.#withheld)
        throw new ApiError("invalid_request", `'${name}' must be a string, not a file.`, { param: name });
      this.files.push(name);
      out.push(head);
      this.#state = "file";
    } else {
      if (name === this.#withheld && this.fields.has(name)) {
        throw new ApiError("invalid_request", `'${name}' occurs twice in the form.`, { param: name });
      }
      this.#field = { name, head, content: [], bytes: 0 };
      this.#state = "field";
    }
    return true;
  }

  #readContent(out: Uint8Array[]): boolean {
    const at = this.#rest.indexOf(this.#delimiter);
    // Whether it is a boundary is known only when the two bytes after it have arrived.
    if (at >= 0 && this.#rest.byteLength < at + this.#delimiter.byteLength + 2) return this.#pass(at - 2, out);
    if (at < 0) return this.#pass(this.#rest.byteLength - this.#delimiter.byteLength - 2, out);
    if (at < 2 || this.#rest.toString("latin1", at - 2, at) !== CRLF) throw malformed("a part contains its boundary");
    this.#pass(at - 2, out);
    // The rest begins with the line break before the boundary.
    if (this.#field !== undefined) this.#endField(out);
    else out.push(Buffer.from(CRLF));
    return this.#take(2, out);
  }

  /** Consumes `bytes` bytes of content. Always false, since more bytes are needed. */
  #pass(bytes: number, out: Uint8Array[]): false {
    if (bytes <= 0) return false;
    const content = this.#rest.subarray(0, bytes);
    this.#rest = this.#rest.subarray(bytes);
    if (this.#field === undefined) {
      out.push(content);
      this.#heard?.(content);
      return false;
    }
    const field = this.#field;
    field.content.push(content);
    field.bytes += bytes;
    this.#fieldBytes += bytes;
    if (field.bytes > FIELD_BYTES_MAX || this.#fieldBytes > FIELDS_BYTES_MAX) {
      const message = `'${field.name}' is too long: a field may have ${FIELD_BYTES_MAX} bytes, all fields ${FIELDS_BYTES_MAX}.`;
      throw new ApiError("request_too_large", message, { param: field.name });
    }
    return false;
  }

  #endField(out: Uint8Array[]): void {
    const { name, head, content } = this.#field!;
    this.#field = undefined;
    const value = Buffer.concat(content);
    const values = this.fields.get(name);
    if (values === undefined) this.fields.set(name, [value.toString("utf8")]);
    else values.push(value.toString("utf8"));
    if (name === this.#withheld) this.withheldBytes += head.byteLength + value.byteLength + 2;
    else out.push(head, value, Buffer.from(CRLF));
  }
}

function readPart(headers: string): { name: string; isFile: boolean } {
  let found: { name: string; isFile: boolean } | undefined;
  for (const line of headers.split(CRLF)) {
    const [, header = "", value = ""] = HEADER_LINE.exec(line) ?? [];
    if (header === "") throw malformed("a part has a header that cannot be read");
    if (header.toLowerCase() === "content-transfer-encoding" && !/^(?:binary|8bit|7bit)\s*$/i.test(value)) {
      throw malformed("a part has a Content-Transfer-Encoding: send its bytes as they are");
    }
    if (header.toLowerCase() !== "content-disposition") continue;
    const [, quoted, plain, filename, extended] = DISPOSITION.exec(value) ?? [];
    const name = quoted ?? plain;
    if (name === undefined || found !== undefined) throw malformed("a part has a name that cannot be read");
    found = { name, isFile: filename !== undefined || extended !== undefined };
  }
  if (found === undefined) throw malformed("a part has no name");
  return found;
}

function malformed(why: string): ApiError {
  return new ApiError("invalid_request", `The request body is not a form that can be read: ${why}.`);
}
