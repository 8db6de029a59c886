// Computes the unpacked size of a PDF's streams before it is parsed: a few kilobytes can hold gigabytes. Images are not
// counted, since reading text does not unpack them. Streams behind encryption or indirect filter names are not seen here; the
// memory limit of the parsing process covers those.

import { inflateSync, constants as zlib } from "node:zlib";
import { entryOf } from "../../base/json-object.ts";

/** Whether the unpacked streams, including the output of each filter, exceed `bytesMax`. */
export function unpacksToMore(pdf: Uint8Array, bytesMax: number): boolean {
  const bytes = Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength);
  let bytesLeft = bytesMax;
  for (const { dictionary, data } of streams(bytes)) {
    if (/\/Subtype\s*\/Image\b/.test(dictionary)) continue;
    let content = data;
    for (const filter of filtersOf(dictionary)) {
      const unpack = entryOf(FILTERS, filter);
      if (unpack === undefined) break;
      const unpacked = unpack(content, bytesLeft);
      if (unpacked === undefined) return true;
      content = unpacked;
      bytesLeft -= content.length;
      if (bytesLeft < 0) return true;
    }
  }
  return false;
}

/** How many bytes before a stream are searched for its dictionary, which is short. */
const DICTIONARY_BYTES_MAX = 4096;

function* streams(bytes: Buffer): Generator<{ dictionary: string; data: Buffer }> {
  for (let at = bytes.indexOf("stream"); at >= 0; ) {
    const before = bytes.toString("latin1", Math.max(0, at - DICTIONARY_BYTES_MAX), at);
    let from = at + "stream".length;
    if (bytes[from] === 13) from++;
    if (bytes[from] === 10) from++;
    const end = bytes.indexOf("endstream", from);
    const to = end < 0 ? bytes.length : end;
    yield { dictionary: before.slice(before.lastIndexOf("obj") + 1), data: bytes.subarray(from, to) };
    at = end < 0 ? -1 : bytes.indexOf("stream", to + "endstream".length);
  }
}

/** The filters in the order in which they are decoded. */
function filtersOf(dictionary: string): string[] {
  const named = /\/(?:Filter|F)\s*(\[[^\]]*\]|\/[^\s/<>[\]()]+)/.exec(plainNames(dictionary))?.[1] ?? "";
  return [...named.matchAll(/\/([^\s/<>[\]()]+)/g)].map(([, name]) => name as string);
}

/** Decodes names, in which PDF allows any letter to be written as a number. */
function plainNames(text: string): string {
  return text.replace(/#([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** Returns the output of a filter up to the first invalid data; undefined if it exceeds `bytesMax`. */
type Unpack = (data: Buffer, bytesMax: number) => Buffer | undefined;

const FILTERS: Readonly<Record<string, Unpack>> = {
  FlateDecode: inflate,
  Fl: inflate,
  LZWDecode: unpackLzw,
  LZW: unpackLzw,
  RunLengthDecode: unpackRuns,
  RL: unpackRuns,
  ASCII85Decode: unpackAscii85,
  A85: unpackAscii85,
  ASCIIHexDecode: unpackHex,
  AHx: unpackHex,
};

function inflate(data: Buffer, bytesMax: number): Buffer | undefined {
  try {
    return inflateSync(data, { maxOutputLength: Math.max(1, bytesMax), finishFlush: zlib.Z_SYNC_FLUSH });
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") return undefined;
    // If the data are damaged, nothing more can be decoded.
    return Buffer.alloc(0);
  }
}

function unpackRuns(data: Buffer, bytesMax: number): Buffer | undefined {
  const out: Buffer[] = [];
  let size = 0;
  for (let at = 0; at < data.length && data[at] !== 128; ) {
    const length = data[at] as number;
    const run = length < 128 ? data.subarray(at + 1, at + 2 + length) : Buffer.alloc(257 - length, data[at + 1] ?? 0);
    at += length < 128 ? length + 2 : 2;
    size += run.length;
    if (size > bytesMax) return undefined;
    out.push(run);
  }
  return Buffer.concat(out, size);
}

/** The output is never longer than the input. */
function unpackHex(data: Buffer): Buffer {
  const digits = data
    .toString("latin1")
    .replace(/>[\s\S]*$/, "")
    .replace(/[^0-9a-f]/gi, "");
  return Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, "hex");
}

/** The output has at most four bytes per letter; for letters other than `z` it is shorter than the input. */
function unpackAscii85(data: Buffer, bytesMax: number): Buffer | undefined {
  const out: number[] = [];
  let group: number[] = [];
  const flush = (padding: number) => {
    const value = group.reduce((sum, digit) => sum * 85 + digit, 0);
    for (let byte = 0; byte < 4 - padding; byte++) out.push(Math.floor(value / 256 ** (3 - byte)) & 255);
    group = [];
  };
  for (const code of data) {
    if (out.length > bytesMax) return undefined;
    if (code === TILDE) break;
    if (code === LETTER_Z && group.length === 0) out.push(0, 0, 0, 0);
    else if (code >= 33 && code <= 117) group.push(code - 33);
    if (group.length === 5) flush(0);
  }
  const padding = 5 - group.length;
  if (group.length > 1) {
    group.push(...Array.from({ length: padding }, () => 84));
    flush(padding);
  }
  return Buffer.from(out);
}

const TILDE = 126;
const LETTER_Z = 122;

const LZW_CLEAR = 256;
const LZW_END = 257;
const LZW_CODES_MAX = 4096;

function unpackLzw(data: Buffer, bytesMax: number): Buffer | undefined {
  const out: Buffer[] = [];
  let size = 0;
  let table: Buffer[] = [];
  let previous: Buffer | undefined;
  let bits = 0;
  let width = 9;
  let held = 0;
  const clear = () => {
    table = Array.from({ length: 258 }, (_, code) => Buffer.from(code < 256 ? [code] : []));
    previous = undefined;
    width = 9;
  };
  clear();
  for (const byte of data) {
    held = ((held << 8) | byte) & 0xffffff;
    bits += 8;
    if (bits < width) continue;
    bits -= width;
    const code = (held >> bits) & ((1 << width) - 1);
    if (code === LZW_END) break;
    if (code === LZW_CLEAR) {
      clear();
      continue;
    }
    const entry: Buffer | undefined = table[code] ?? (previous && Buffer.concat([previous, previous.subarray(0, 1)]));
    if (entry === undefined || code > table.length) break;
    size += entry.length;
    if (size > bytesMax) return undefined;
    out.push(entry);
    if (previous !== undefined && table.length < LZW_CODES_MAX)
      table.push(Buffer.concat([previous, entry.subarray(0, 1)]));
    previous = entry;
    // "Early change" is the format's default. Streams that turn it off are not unpacked completely.
    width = Math.min(12, Math.max(9, Math.ceil(Math.log2(table.length + 2))));
  }
  return Buffer.concat(out, size);
}
