// docs/reference/vendor-rules.md: what the gateway does with each name in the types of the vendors' official SDKs.

import { table } from "../../src/docs/table.ts";
import { compare, type WatchRow } from "../watch/compare.ts";
import { SdkTypes } from "../watch/declarations.ts";
import { PINNED, SDKS } from "../watch/subjects.ts";
import { VERDICTS } from "../watch/verdict.ts";

/** The page. */
export function vendorRulesPage(): string {
  const types = new SdkTypes(PINNED);
  const { rows } = compare(types);
  const parts = SDKS.map((sdk) => {
    const own = rows.filter((row) => row.sdk === sdk);
    const kinds = [...new Set(own.map(({ kind }) => kind))];
    const tables = kinds.map((kind) => `### ${heading(kind)}\n\n${kindTable(own.filter((row) => row.kind === kind))}`);
    return `## \`${sdk}\` ${types.version(sdk)}\n\n${tables.join("\n\n")}`;
  });
  return `# Vendors' rules

<!-- Written by \`bun run generate\` from the types of the SDKs and scripts/watch; change it there. -->

What the gateway does with every parameter, item, block, event, stop reason and error code in the types of the official SDKs.
Where the client and the provider speak the same protocol, a request and its answer are passed as they are. The verdicts are
about translation:

- *passed*: it reaches the other side under its own name;
- *translated*: it is written in the other protocol's form, or the gateway does it itself;
- *dropped*: it is left out; for a part of a request, \`x-sallyport-dropped\` names it;
- *refused*: the request is refused with its name, or the answer becomes an error.

Most verdicts are read from the gateway's own tables and readers. A test fails for a name without a verdict, so that a new
version of an SDK is decided on before it is used; \`bun scripts/watch.ts --sdk-dir DIR\` compares other versions.

${parts.join("\n\n")}
`;
}

function heading(kind: string): string {
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)}s`;
}

/** One line for each verdict and note. */
function kindTable(rows: readonly WatchRow[]): string {
  const lines = VERDICTS.flatMap((verdict) => {
    const own = rows.filter((row) => row.verdict === verdict);
    return [...new Set(own.map(({ note }) => note))].map((note) => {
      const names = own.filter((row) => row.note === note).map(({ name }) => `\`${name}\``);
      return [verdict, names.join(", "), note];
    });
  });
  return table(["verdict", "names", ""], lines);
}
