// The errors for problems with the database itself. Its message is shown to the operator in the terminal.

import type { Unreachable } from "../../base/unreachable.ts";

/** The database cannot be used as requested. */
export class StoreError extends Error {
  override name = "StoreError";
}

/** The database does not answer at the moment. Nothing was changed, or it is not known what was. */
export class StoreUnreachable extends StoreError implements Unreachable {
  override name = "StoreUnreachable";
  readonly isUnreachable = true;
}

/** The database is an older version's: `upgradeStore` brings it to this one's schema. */
export class OlderDatabase extends StoreError {
  override name = "OlderDatabase";
}
