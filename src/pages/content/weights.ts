// The fitted ensembles as part of the program. Only `scripts/fit-extraction.ts` writes the packed file.

import { gunzipSync } from "node:zlib";
import type { Weights } from "./choose.ts";
import { PACKED_WEIGHTS } from "./weights-packed.ts";

let weights: Weights | undefined;

/** The weights, unpacked on first use. */
export function loadWeights(): Weights {
  weights ??= JSON.parse(gunzipSync(Buffer.from(PACKED_WEIGHTS, "base64")).toString("utf8")) as Weights;
  return weights;
}
