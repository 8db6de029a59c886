// The packed metadata of well-known models, inserted as text when the program is bundled.

import { packMetadata } from "./pack-metadata.ts" with { type: "macro" };

/** For each vendor a line of `PackedAddress` and one of `PackedModels`. */
export const PACKED_METADATA: string = packMetadata();
