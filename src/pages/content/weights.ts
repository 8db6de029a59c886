// The fitted ensembles as part of the program. Only `scripts/fit-extraction.ts` and `scripts/fit-kinds.ts` write the packed files.

import { gunzipSync } from "node:zlib";
import type { Weights } from "./choose.ts";
import type { KindTable } from "./kinds.ts";
import { PACKED_KINDS } from "./kinds-packed.ts";
import { PACKED_WEIGHTS } from "./weights-packed.ts";

let weights: Weights | undefined;

/** The weights, unpacked on first use. */
export function loadWeights(): Weights {
  weights ??= { ...unpack<Omit<Weights, "kinds">>(PACKED_WEIGHTS), kinds: unpack<KindTable>(PACKED_KINDS) };
  return weights;
}

function unpack<T>(packed: string): T {
  return JSON.parse(gunzipSync(Buffer.from(packed, "base64")).toString("utf8")) as T;
}
