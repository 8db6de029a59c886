// The packed metadata of well-known models, inserted as text when the program is bundled.

import { packMetadata } from "./pack-metadata.ts" with { type: "macro" };

/** JSON of `PackedVendor[]`. */
export const PACKED_METADATA: string = packMetadata();
