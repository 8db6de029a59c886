// The page of providers, generated from the vendors' files.

import { CALLABLE, type CallableVendor } from "../../src/vendors/look-up.ts";
import type { VendorApi } from "../../src/vendors/vendor.ts";

/** The page's text. */
export function providerPage(): string {
  return `# Providers

<!-- Written by \`bun run generate\` from src/vendors; change it there. -->

An entry of \`providers\` in the configuration that bears one of these names, or names it as its \`preset\`, needs no more than
its key. The variable holds that key or, where it says so, the server's address; a variable marked with ✓ is enough by
itself when nothing is configured. With *prices*, costs and budgets work without further configuration.

| provider | preset | variable | ✓ | kind | \`base_url\` | prices | |
|---|---|---|---|---|---|---|---|
${CALLABLE.map(row).join("\n")}

Every other server that speaks one of the protocols is an entry of its own with \`kind\` and \`base_url\`.
`;
}

function row({ name, title, api }: CallableVendor): string {
  const { kind, baseUrl, variable, figures, note = "" } = api;
  const cells = [
    title,
    `\`${name}\``,
    variable === undefined ? "" : `\`${variable.name}\`${variable.holds === "address" ? " (address)" : ""}`,
    variable?.alone === true ? "✓" : "",
    kindsOf(kind, api),
    baseUrl === "" ? "" : `\`${baseUrl}\``,
    figures === undefined ? "" : "yes",
    note,
  ];
  return `| ${cells.join(" | ")} |`;
}

function kindsOf(kind: string, { dialects }: VendorApi): string {
  const also = kind !== "openai-responses" && dialects["openai-responses"] !== undefined;
  return also ? `\`${kind}\`, \`openai-responses\`` : `\`${kind}\``;
}
