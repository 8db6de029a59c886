// The page of the HTTP API, generated from the OpenAPI document.

import { openApi } from "../../src/app/endpoints.ts";
import { anchorOf, groupsOf, operationMarkdown } from "../../src/docs/http-api.ts";
import { table } from "../../src/docs/table.ts";

/** The server address in the generated document: the default address of a gateway. */
const SERVER = "http://127.0.0.1:8787";

/** The page's text. */
export function httpApiPage(): string {
  const document = openApi(SERVER);
  const groups = groupsOf(document);
  const sections = groups.map(({ name, description, operations }) =>
    [`## ${name}`, description, ...operations.map((one) => operationMarkdown(document, one))].join("\n\n"),
  );
  const rows = groups.flatMap(({ operations }) =>
    operations.map((one) => [`[\`${one.method} ${one.path}\`](#${anchorOf(one)})`, String(one.is["summary"])]),
  );
  return `# HTTP API

<!-- Written by \`bun run generate\` from the descriptions of the endpoints; change it there. -->

The same as a document for programs: \`GET /openapi.json\` and \`sallyport openapi\` (OpenAPI 3.1). A running gateway shows it
at \`/docs\`. [Errors](errors.md) lists what each code means.

${(document["info"] as { description: string }).description}

${table(["endpoint", ""], rows)}

${sections.join("\n\n")}
`;
}
