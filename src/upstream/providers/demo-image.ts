// The built-in image model. It draws the words of the prompt as large as they fit, as a PNG in two colours that depend on the
// prompt.

import { FormScanner, formBoundary } from "../../base/form-scanner.ts";
import { nodeZlib } from "../../base/node-modules.ts";
import { countTokens } from "../../tokens/count.ts";

type Json = Readonly<Record<string, unknown>>;

const SIZE = 1024;
const SIZE_MAX = 2048;
const SIZE_MIN = 16;
const COUNT_MAX = 10;
/** The number of output tokens that is reported for an image. */
const OUTPUT_TOKENS = 100;

/** Answers a request for images. */
export function demoImages(body: Json): Response {
  return pictures(body, "image_generation");
}

/** Answers a request to edit images: draws the words, and the number of images that were sent. */
export async function demoImageEdits(init: BunFetchRequestInit): Promise<Response> {
  const type = new Headers(init.headers as Record<string, string>).get("content-type") ?? "";
  const scanner = new FormScanner(formBoundary(type), "");
  for await (const chunk of init.body as ReadableStream<Uint8Array>) scanner.push(chunk, []);
  scanner.end();
  const fields = Object.fromEntries([...scanner.fields].map(([name, [value]]) => [name, value]));
  const count = scanner.files.filter((name) => name !== "mask").length;
  const prompt = `${fields["prompt"] ?? ""} (${count} ${count === 1 ? "image" : "images"} edited)`;
  return pictures({ ...fields, stream: fields["stream"] === "true", prompt }, "image_edit");
}

function pictures({ prompt, size, n, response_format: format, stream }: Json, event: string): Response {
  const [width, height] = sizeOf(size);
  const text = String(prompt);
  const png = pngOf(text, width, height).toString("base64");
  const count = Math.min(Number(n ?? 1), COUNT_MAX);
  const tokens = countTokens(text);
  const usage = {
    input_tokens: tokens,
    output_tokens: count * OUTPUT_TOKENS,
    total_tokens: tokens + count * OUTPUT_TOKENS,
  };
  const facts = { size: `${width}x${height}`, quality: "low", background: "opaque", output_format: "png" };
  if (stream === true) {
    const partial = { type: `${event}.partial_image`, partial_image_index: 0, b64_json: png, created_at: 0, ...facts };
    const done = { type: `${event}.completed`, b64_json: png, created_at: 0, usage, ...facts };
    const lines = [partial, done].map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`);
    return new Response(lines.join(""), { headers: { "content-type": "text/event-stream" } });
  }
  const one = format === "url" ? { url: `data:image/png;base64,${png}` } : { b64_json: png };
  return Response.json({ created: 0, data: Array.from({ length: count }, () => one), usage, ...facts });
}

function sizeOf(size: unknown): [number, number] {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(String(size)) ?? [];
  const within = (side: string | undefined) => Math.min(SIZE_MAX, Math.max(SIZE_MIN, Number(side ?? SIZE)));
  return [within(width), within(height)];
}

/** The letters of this program's own font, three points wide and five high. Each row is an octal digit. */
const GLYPHS: Readonly<Record<string, string>> = Object.fromEntries(
  (
    "A25755 B65656 C34443 D65556 E74647 F74644 G34553 H55755 I72227 J11152 K55655 L44447 M57755 N65555 O25552 P65644 " +
    "Q25563 R65655 S34216 T72222 U55557 V55522 W55775 X55255 Y55222 Z71247 025552 126227 261247 361216 455711 574616 " +
    "634252 771222 825252 925316 .00002 ,00024 !22202 ?61202 :02020 ;02024 -00700 _00007 +02720 =07070 /11244 (12221 " +
    ")42224 [32223 ]62226 '22000 \"55000 *52500 &25276 %51245 @25743 #57575 $36736 <12421 >42124"
  )
    .split(" ")
    .map((word) => [word.slice(0, -5), word.slice(-5)]),
);
const UNKNOWN = "77777";
/** The size of a letter with the space beside and below it. */
const CELL_WIDTH = 4;
const CELL_HEIGHT = 7;

interface Layout {
  readonly lines: readonly string[];
  /** The number of pixels for each point of a letter. */
  readonly scale: number;
}

/** The largest letters with which all words fit, otherwise the smallest letters, with as many lines as fit. */
function layoutOf(text: string, width: number, height: number): Layout {
  const words = text.toUpperCase().split(/\s+/).filter(Boolean);
  for (let scale = Math.max(1, Math.floor(width / (CELL_WIDTH * 6))); ; scale--) {
    const columns = Math.max(1, Math.floor(width / (CELL_WIDTH * scale)) - 1);
    const rows = Math.max(1, Math.floor(height / (CELL_HEIGHT * scale)));
    const lines = wrap(words, columns);
    if (scale <= 1 || (lines.length <= rows && words.every(({ length }) => length <= columns))) {
      return { lines: lines.slice(0, rows), scale: Math.max(1, scale) };
    }
  }
}

function wrap(words: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else for (let at = 0; at < word.length; at += columns) lines.push(word.slice(at, at + columns));
  }
  return lines;
}

/** Writes a PNG with a palette of two colours, and one bit for each pixel. */
function pngOf(text: string, width: number, height: number): Buffer {
  const stride = 1 + Math.ceil(width / 8);
  const points = Buffer.alloc(stride * height);
  const { lines, scale } = layoutOf(text, width, height);
  const top = Math.floor((height - lines.length * CELL_HEIGHT * scale) / 2);
  for (const [row, line] of lines.entries()) {
    const left = Math.floor((width - line.length * CELL_WIDTH * scale) / 2);
    for (const [column, letter] of [...line].entries()) {
      const at = { x: left + column * CELL_WIDTH * scale, y: top + row * CELL_HEIGHT * scale };
      drawLetter(
        letter,
        at,
        (x, y) => {
          if (x < 0 || y < 0 || x >= width || y >= height) return;
          const byte = y * stride + 1 + (x >> 3);
          points[byte] = points[byte]! | (0x80 >> (x & 7));
        },
        scale,
      );
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // One bit for each pixel, which is an index of the palette.
  header.writeUInt8(1, 8);
  header.writeUInt8(3, 9);
  const hue = nodeZlib().crc32(text);
  const dark = [16, 8, 0].map((shift) => ((hue >> shift) & 0x3f) + 16);
  const palette = Buffer.from([...dark, 250, 250, 245]);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [
    chunk("IHDR", header),
    chunk("PLTE", palette),
    chunk("IDAT", nodeZlib().deflateSync(points)),
    chunk("IEND"),
  ];
  return Buffer.concat([signature, ...chunks]);
}

function drawLetter(
  letter: string,
  at: { readonly x: number; readonly y: number },
  set: (x: number, y: number) => void,
  scale: number,
): void {
  if (letter === " ") return;
  for (const [row, bits] of [...(GLYPHS[letter] ?? UNKNOWN)].entries()) {
    for (let column = 0; column < 3; column++) {
      if ((Number(bits) & (4 >> column)) === 0) continue;
      for (let y = 0; y < scale; y++) {
        for (let x = 0; x < scale; x++) set(at.x + column * scale + x, at.y + row * scale + y);
      }
    }
  }
}

function chunk(type: string, data: Uint8Array = new Uint8Array()): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const out = Buffer.alloc(body.byteLength + 8);
  out.writeUInt32BE(data.byteLength, 0);
  body.copy(out, 4);
  out.writeUInt32BE(nodeZlib().crc32(body), body.byteLength + 4);
  return out;
}
