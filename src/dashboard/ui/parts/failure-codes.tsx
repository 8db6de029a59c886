// What an operator needs to find a failed request.

import { Refused } from "../api.ts";

/** The error's code and request id, by which an operator finds the request; nothing for errors of this page. */
export function FailureCodes({ error }: { error: unknown }) {
  if (!(error instanceof Refused)) return null;
  return (
    <small class="codes">
      <code>{error.code}</code>
      {error.requestId !== null && <code>{error.requestId}</code>}
    </small>
  );
}
