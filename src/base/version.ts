// The version of the program. A build embeds version and commit; a run from source reports itself as such.

import { version } from "../../package.json" with { type: "json" };

declare const SALLYPORT_COMMIT: string | undefined;

/** The release, such as `0.1.0`. */
export const VERSION: string = version;

/** The short git commit a binary was built from; `source` when the program runs uncompiled. */
export const COMMIT: string = typeof SALLYPORT_COMMIT === "undefined" ? "source" : SALLYPORT_COMMIT;
