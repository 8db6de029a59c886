// Reads the format and length of audio from the file's own headers, for the built-in transcription model. The file is not kept,
// except for a little of its beginning and end.

/** How many bytes are kept of a file's beginning and of its end. */
const KEPT_BYTES = 64 * 1024;

/** What the headers of a file state. */
export interface HeardAudio {
  /** The common name of the format: `WAV`, `MP3`. */
  readonly format: string;
  /** The length; undefined if the file does not state it. */
  readonly seconds: number | undefined;
  readonly bytes: number;
}

/** Reads a file piece by piece. */
export class AudioListener {
  #bytes = 0;
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);

  hear(bytes: Uint8Array): void {
    if (this.#head.byteLength < KEPT_BYTES) {
      this.#head = Buffer.concat([this.#head, bytes.subarray(0, KEPT_BYTES - this.#head.byteLength)]);
    }
    const tail = Buffer.concat([this.#tail, bytes.subarray(-KEPT_BYTES)]);
    this.#tail = tail.subarray(-KEPT_BYTES);
    this.#bytes += bytes.byteLength;
  }

  /** What was found. */
  result(): HeardAudio {
    const head = this.#head;
    for (const [format, isOne, secondsOf] of FORMATS) {
      if (!isOne(head)) continue;
      const seconds = secondsOf({ head, tail: this.#tail, bytes: this.#bytes });
      return { format, seconds: seconds !== undefined && seconds >= 0 ? seconds : undefined, bytes: this.#bytes };
    }
    return { format: "unknown", seconds: undefined, bytes: this.#bytes };
  }
}

interface Sample {
  readonly head: Buffer;
  readonly tail: Buffer;
  readonly bytes: number;
}

type Format = readonly [
  format: string,
  isOne: (head: Buffer) => boolean,
  secondsOf: (sample: Sample) => number | undefined,
];

const FORMATS: readonly Format[] = [
  ["WAV", (head) => textAt(head, 0, 4) === "RIFF" && textAt(head, 8, 12) === "WAVE", wavSeconds],
  ["FLAC", (head) => textAt(head, 0, 4) === "fLaC", flacSeconds],
  ["Ogg", (head) => textAt(head, 0, 4) === "OggS", oggSeconds],
  ["MP4", (head) => textAt(head, 4, 8) === "ftyp", mp4Seconds],
  ["WebM", (head) => head.length >= 4 && head.readUInt32BE(0) === 0x1a45dfa3, () => undefined],
  ["MP3", (head) => textAt(head, 0, 3) === "ID3" || isMp3Frame(head, 0), mp3Seconds],
];

function textAt(bytes: Buffer, from: number, to: number): string {
  return bytes.toString("latin1", from, to);
}

/**
 * The length of a WAV file: its bytes divided by those for a second. If a recording was cut off, the file states no size or too
 * large a one.
 */
function wavSeconds({ head, bytes }: Sample): number | undefined {
  let perSecond = 0;
  for (let at = 12; at + 8 <= head.length; ) {
    const size = head.readUInt32LE(at + 4);
    const chunk = textAt(head, at, at + 4);
    if (chunk === "fmt " && at + 20 <= head.length) perSecond = head.readUInt32LE(at + 16);
    if (chunk === "data") return perSecond === 0 ? undefined : Math.min(size, bytes - at - 8) / perSecond;
    at += 8 + size + (size % 2);
  }
  return undefined;
}

/** The length of a FLAC file from STREAMINFO, which has 20 bits of sample rate and, later, 36 bits of samples. */
function flacSeconds({ head }: Sample): number | undefined {
  if (head.length < 26) return undefined;
  const rate = head.readUIntBE(18, 3) >> 4;
  const samples = (head.readUInt8(21) & 0x0f) * 2 ** 32 + head.readUInt32BE(22);
  return rate === 0 || samples === 0 ? undefined : samples / rate;
}

/**
 * The length of an Ogg file: the position of the last page in samples, of which Opus has 48,000 for a second and Vorbis as many
 * as its header states.
 */
function oggSeconds({ head, tail }: Sample): number | undefined {
  const vorbis = head.indexOf("\x01vorbis");
  const rate = head.includes("OpusHead") ? 48_000 : vorbis < 0 ? 0 : head.readUInt32LE(vorbis + 12);
  const page = tail.lastIndexOf("OggS");
  if (rate === 0 || page < 0 || page + 14 > tail.length) return undefined;
  return Number(tail.readBigUInt64LE(page + 6)) / rate;
}

/** The length of an MP4 file from `mvhd`, in which it follows the number of units for a second. */
function mp4Seconds({ head, tail }: Sample): number | undefined {
  for (const part of [head, tail]) {
    const at = part.indexOf("mvhd");
    if (at < 0 || at + 40 > part.length) continue;
    const isLong = part.readUInt8(at + 4) === 1;
    const scale = part.readUInt32BE(at + (isLong ? 24 : 16));
    const length = isLong ? Number(part.readBigUInt64BE(at + 28)) : part.readUInt32BE(at + 20);
    return scale === 0 ? undefined : length / scale;
  }
  return undefined;
}

/** The bit rates of MPEG-1 and MPEG-2 layer III in kilobits for a second, by the index in the frame's header. */
const KBITS_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const KBITS_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

function isMp3Frame(bytes: Buffer, at: number): boolean {
  return at + 4 <= bytes.length && bytes[at] === 0xff && (bytes[at + 1]! & 0xe6) === 0xe2;
}

/** The length of an MP3 file, as if every frame had the bit rate of the first one. */
function mp3Seconds({ head, bytes }: Sample): number | undefined {
  let at = 0;
  if (textAt(head, 0, 3) === "ID3" && head.length >= 10) {
    // The size of the tag is written with seven bits in each byte.
    at = 10 + [6, 7, 8, 9].reduce((sum, place) => sum * 128 + (head[place]! & 0x7f), 0);
  }
  while (at < head.length && !isMp3Frame(head, at)) at++;
  if (at >= head.length) return undefined;
  const isFirst = (head[at + 1]! & 0x18) === 0x18;
  const kbits = (isFirst ? KBITS_1 : KBITS_2)[head[at + 2]! >> 4] ?? 0;
  return kbits === 0 ? undefined : ((bytes - at) * 8) / (kbits * 1000);
}
