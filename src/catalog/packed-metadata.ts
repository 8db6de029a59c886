// The packed knowledge of well-known models, put here as text when the program is bundled.

import { packMetadata } from "./pack-metadata.ts" with { type: "macro" };

/** JSON of `PackedVendor[]`. */
export const PACKED_METADATA: string = packMetadata();
