// Streams a form with files to a provider. Only the fields that must be known are read, and the rest passes unchanged.
// What was read is kept up to a limit, so that it can be sent again; a large file is never held.

import { ApiError } from "../base/errors.ts";
import { FormScanner, fieldPart, formBoundary } from "../base/form-scanner.ts";
import { type Limit, lone } from "../base/limit.ts";
import { bodyCutOff, bodyTooLarge, bodyTooSlow } from "./body-errors.ts";
import { maybeExchangeOf } from "./exchange.ts";
import type { Spool, Spools } from "./spool.ts";

/** How many bytes of a form are kept for another attempt, and within how many the field must be found. */
const KEPT_BYTES_MAX = 25 * 1024 * 1024;
const READ_BYTES = 256 * 1024;
/** The longest pause within an upload, and its longest duration. */
const STALL_MS = 30_000;
const TOTAL_MS = 3_600_000;

/** Limits of one upload. */
export interface UploadLimits {
  /** Maximum number of bytes of a form. */
  readonly maxBytes: number;
  readonly stallMs?: number;
  readonly totalMs?: number;
}

/** A form as it is sent to one provider. */
export interface UploadBody {
  /** The content type. */
  readonly type: string;
  /** The length; undefined if it cannot be known yet. */
  readonly length: number | undefined;
  /**
   * The next bytes; undefined at the end. Throws the `ApiError` for an invalid form, or the error of the connection.
   */
  next(): Promise<Uint8Array | undefined>;
}

/** Reads a form until the named field is known. Throws `ApiError` 400, 408 or 413. Close it when the request is over. */
export async function openUpload(
  request: Request,
  spools: Spools,
  { field, limits }: { field: string; limits: UploadLimits },
): Promise<Upload> {
  const coding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (coding !== "identity") {
    throw new ApiError("invalid_request", "An upload must not be compressed: send it without Content-Encoding.");
  }
  const upload = new Upload(request, spools.open(), {
    boundary: formBoundary(request.headers.get("content-type") ?? ""),
    field,
    limits,
  });
  try {
    await upload.open(maybeExchangeOf(request)?.alias?.model);
    return upload;
  } catch (error) {
    await upload.close();
    throw error;
  }
}

/** One upload. */
export class Upload {
  /** The fields before the first file, or those up to the one that was searched for. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  readonly #scanner: FormScanner;
  readonly #boundary: string;
  readonly #field: string;
  readonly #limits: Required<UploadLimits>;
  readonly #declared: number;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #spool: Spool;
  readonly #startedMs = performance.now();
  /** Whether all bytes that arrived so far are kept. */
  #isKept = true;
  /** The bytes that arrived last, and their position in the form. */
  #latest: { readonly at: number; readonly bytes: Uint8Array } = { at: 0, bytes: new Uint8Array() };
  #readBytes = 0;
  #over = false;
  #advancing: Promise<void> | undefined;
  #failure: unknown;
  #lengthIsKnown = false;
  #silence: Limit | undefined;

  constructor(
    request: Request,
    spool: Spool,
    { boundary, field, limits }: { boundary: string; field: string; limits: UploadLimits },
  ) {
    this.#limits = { stallMs: STALL_MS, totalMs: TOTAL_MS, ...limits };
    this.#declared = Number(request.headers.get("content-length") ?? Number.NaN);
    if (this.#declared > limits.maxBytes) throw bodyTooLarge(limits.maxBytes);
    this.#boundary = boundary;
    this.#field = field;
    this.#scanner = new FormScanner(boundary, field);
    this.fields = this.#scanner.fields;
    this.#spool = spool;
    this.#reader = request.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
  }

  /** The size that the client declared; undefined if it declared none. */
  get declaredBytes(): number | undefined {
    return Number.isNaN(this.#declared) ? undefined : this.#declared;
  }

  /** Names of the files that have arrived so far. */
  get files(): readonly string[] {
    return this.#scanner.files;
  }

  /** Whether another provider can be tried after one has failed, since all that was read is kept. */
  get canBeSentAgain(): boolean {
    return this.#isKept;
  }

  /**
   * Reads until the field is known and a file has begun, or until the form has ended. `named`: the value of the field, if the
   * path gave it.
   */
  async open(named: string | undefined): Promise<void> {
    const { fields, files } = this.#scanner;
    const isKnown = () => fields.has(this.#field) || (named !== undefined && files.length > 0);
    while (!this.#over && !(isKnown() && files.length > 0)) {
      if (!this.#isKept) {
        const message = `'${this.#field}' must come before the file, or within the first ${KEPT_BYTES_MAX} bytes.`;
        throw new ApiError("invalid_request", message, { param: this.#field });
      }
      await this.#advance();
    }
    this.#lengthIsKnown = this.#over || fields.has(this.#field);
  }

  /**
   * The form with the values of these fields, the one that was searched for among them. A form that was returned before can no
   * longer be read.
   */
  body(fields: Readonly<Record<string, unknown>>): UploadBody {
    const parts = Object.entries(fields).map(([name, value]) => fieldPart(this.#boundary, name, String(value)));
    const front = Buffer.concat(parts);
    let isFirst = true;
    let at = 0;
    const rest = this.#declared - this.#scanner.withheldBytes;
    const length = this.#lengthIsKnown && rest >= 0 ? front.byteLength + rest : undefined;
    return {
      type: `multipart/form-data; boundary=${this.#boundary}`,
      length,
      next: async () => {
        if (isFirst) {
          isFirst = false;
          return front;
        }
        for (;;) {
          const bytes = await this.#from(at);
          if (bytes !== undefined) {
            at += bytes.byteLength;
            return bytes;
          }
          if (this.#over) return undefined;
          await this.#advance();
        }
      },
    };
  }

  /**
   * Reads the form to its end and returns its fields. `advanced` is called with each piece. Throws `ApiError` 413 if the form is too
   * large to be kept.
   */
  async readWhole(advanced: () => void): Promise<Upload["fields"]> {
    while (!this.#over) {
      await this.#advance();
      advanced();
    }
    if (!this.#isKept) throw bodyTooLarge(KEPT_BYTES_MAX);
    return this.fields;
  }

  /** The content of the form's files alone. */
  file(): UploadBody {
    const form = this.body({});
    const heard: Uint8Array[] = [];
    const scanner = new FormScanner(this.#boundary, this.#field, (bytes) => heard.push(bytes.slice()));
    return {
      type: "application/octet-stream",
      length: undefined,
      next: async () => {
        while (heard.length === 0) {
          const bytes = await form.next();
          if (bytes === undefined) return undefined;
          if (bytes.byteLength > 0) scanner.push(bytes, []);
        }
        return Buffer.concat(heard.splice(0));
      },
    };
  }

  /** Stops reading and releases what is kept. */
  async close(): Promise<void> {
    this.#silence?.cancel();
    if (!this.#over) {
      this.#over = true;
      // A connection that has failed need not be cancelled.
      this.#reader?.cancel().catch(() => undefined);
    }
    await this.#advancing?.catch(() => undefined);
    await this.#spool.close();
  }

  /** The bytes from a position on; undefined at the end of the part that was read. */
  async #from(at: number): Promise<Uint8Array | undefined> {
    const { at: from, bytes } = this.#latest;
    if (at >= from && at < from + bytes.byteLength) return bytes.subarray(at - from);
    if (at < from && this.#isKept) return this.#spool.read(at, Math.min(READ_BYTES, from - at));
    if (at < from) throw new Error("The form cannot be sent again, since it was not kept.");
    return undefined;
  }

  /** Reads the next piece of the body. Concurrent calls share one piece. */
  #advance(): Promise<void> {
    this.#advancing ??= this.#take().finally(() => {
      this.#advancing = undefined;
    });
    return this.#advancing;
  }

  async #take(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      const chunk = await this.#read();
      const out: Uint8Array[] = [];
      if (chunk === undefined) this.#scanner.end();
      else {
        this.#readBytes += chunk.byteLength;
        if (this.#readBytes > this.#limits.maxBytes) throw bodyTooLarge(this.#limits.maxBytes);
        this.#scanner.push(chunk, out);
      }
      await this.#keep(out.length === 1 ? out[0]! : Buffer.concat(out));
      if (chunk === undefined) this.#over = true;
    } catch (error) {
      this.#failure = error instanceof ApiError ? error : bodyCutOff(error);
      throw this.#failure;
    }
  }

  async #keep(bytes: Uint8Array): Promise<void> {
    const at = this.#latest.at + this.#latest.bytes.byteLength;
    if (this.#isKept && (at + bytes.byteLength > KEPT_BYTES_MAX || !(await this.#spool.append(bytes)))) {
      this.#isKept = false;
      await this.#spool.close();
    }
    this.#latest = { at, bytes };
  }

  async #read(): Promise<Uint8Array | undefined> {
    if (this.#reader === undefined) return undefined;
    const { stallMs, totalMs } = this.#limits;
    const leftMs = this.#startedMs + totalMs - performance.now();
    let late = false;
    this.#silence = lone(Math.max(0, Math.min(stallMs, leftMs)), () => {
      late = true;
      this.#reader?.cancel().catch(() => undefined);
    });
    try {
      const { done, value } = await this.#reader.read();
      if (late) throw bodyTooSlow();
      return done ? undefined : value;
    } finally {
      this.#silence.cancel();
    }
  }
}
