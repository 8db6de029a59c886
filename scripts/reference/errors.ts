// The page of error codes, generated from the table of errors.

import { ERROR_HELP } from "../../src/base/error-help.ts";
import { ERRORS, type ErrorCode } from "../../src/base/errors.ts";
import { table } from "../../src/docs/table.ts";

/** The page's text. */
export function errorsPage(): string {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort((a, b) => a - b);
  const rows = statuses.flatMap((status) =>
    codes
      .filter((code) => ERRORS[code].status === status)
      .map((code) => [String(status), `\`${code}\``, `\`${ERRORS[code].type}\``, ERROR_HELP[code]]),
  );
  return `# Errors

<!-- Written by \`bun run generate\` from src/base/errors.ts and src/base/error-help.ts; change it there. -->

A request that fails is answered with its status and

\`\`\`json
{"error": {"message": "…", "type": "invalid_request_error", "code": "invalid_request", "param": "messages[0].content"}}
\`\`\`

Clients of the messages format get the same in that format's envelope. After the first byte of a stream an error comes as the
format's own error event. Every answer has an \`X-Request-ID\`, under which the log and the usage page say more; where waiting
helps there is a \`Retry-After\`. A provider's own code may stand in place of ours where it says more.

${table(["status", "code", "type", "what to do"], rows)}
`;
}
