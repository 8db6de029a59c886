// An answer on a connection of the gateway's own client, with what its readers need of a `Response`, which is only made where one
// is needed.

import { lazily } from "../../base/lazily.ts";
import type { WireAnswer } from "./wire-answer.ts";

/** An answer whose head has arrived. */
export class OwnAnswer {
  readonly wire: WireAnswer;
  readonly status: number;
  #headers: Headers | undefined;

  constructor(wire: WireAnswer) {
    this.wire = wire;
    this.status = wire.head.status;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** Its compression; undefined if it has none. The client does not ask for one, but the operator's headers may. */
  get compression(): string | undefined {
    const coding = this.wire.head.encoding?.toLowerCase();
    return coding !== undefined && COMPRESSIONS.test(coding) ? coding : undefined;
  }

  get headers(): Headers {
    if (this.#headers !== undefined) return this.#headers;
    const headers = new Headers();
    const { fields } = this.wire.head;
    for (let at = 0; at < fields.length; at += 2) headers.append(fields[at] as string, fields[at + 1] as string);
    this.#headers = headers;
    return headers;
  }

  /** The same answer as the platform's own kind, decompressed. */
  asResponse(): Response {
    return convert()(this);
  }
}

/** Only few answers need it, and no start does. */
const convert = lazily(() => {
  const { responseOf }: typeof import("./response.ts") = require("./response.ts");
  return responseOf;
});

const COMPRESSIONS = /^(?:x-)?gzip$|^deflate$|^br$|^zstd$/;
