// The pages of the HTTP API: a page for each group of endpoints, with a form for each endpoint that sends a request.

import { entryOf } from "../../base/json-object.ts";
import { type ApiGroup, type ApiOperation, anchorOf, operationMarkdown, slugOf } from "../http-api.ts";
import type { Json } from "../schemas.ts";
import { markdownHtml, type ResolveLink } from "./markdown.ts";

/** The context of a page. */
export interface ReferenceContext {
  readonly document: Json;
  readonly resolve: ResolveLink;
  readonly origin: string;
}

/** The page's address. */
export function groupAddress({ name }: ApiGroup): string {
  return `/docs/api/${slugOf(name)}`;
}

/** The HTML of a group's page. */
export function groupHtml(group: ApiGroup, context: ReferenceContext): string {
  const operations = group.operations.map((one) => {
    const text = markdownHtml(operationMarkdown(context.document, one).replace(/^<a id=.*\n\n/, ""), context);
    return `<section class="operation" id="${anchorOf(one)}">${asSection(text)}${form(one)}</section>`;
  });
  return `<h1>${Bun.escapeHTML(group.name)}</h1><p>${Bun.escapeHTML(group.description)}</p>${operations.join("\n")}`;
}

/** On its own page a group is the title, its endpoints are one level below, and the many codes of errors are folded. */
function asSection(html: string): string {
  return html
    .replaceAll(/<(\/?)h3\b/g, "<$1h2")
    .replace(
      /<p>Fails with:<\/p>\s*(<div class="scroll"[^>]*>[\s\S]*?<\/div>)/,
      '<details class="errors"><summary>Errors</summary>$1</details>',
    );
}

/** The labels of the field for a credential, by security scheme. */
const CREDENTIALS: Readonly<Record<string, string>> = { apiKey: "API key", managementKey: "Management key" };

/** Hidden until the script has loaded. Uploads are not supported. */
function form({ method, path, is }: ApiOperation): string {
  const body = is["requestBody"] as { content: Record<string, Json> } | undefined;
  if (body !== undefined && body.content["application/json"] === undefined) return "";
  const security = is["security"] as Json[];
  const [scheme] = security;
  const credential = scheme === undefined ? "" : (entryOf(CREDENTIALS, Object.keys(scheme)[0] ?? "") ?? "Access token");
  const parameters = (is["parameters"] as Json[] | undefined) ?? [];
  const fields = [
    ...(credential === "" ? [] : [field({ label: credential, name: "key", type: "password" })]),
    ...parameters.map((one) =>
      field({
        label: `${one["name"]} (${one["in"]})`,
        name: String(one["name"]),
        type: "text",
        where: String(one["in"]),
        value: one["example"] === undefined ? "" : String(one["example"]),
      }),
    ),
    ...(body === undefined ? [] : [bodyField(body.content["application/json"] as Json)]),
  ];
  return `<details class="try" hidden><summary>Try it</summary>
<form class="send" data-method="${method}" data-path="${path}">${fields.join("")}
<button type="submit">Send</button><button type="button" class="stop" hidden>Stop</button>
<output aria-live="polite"></output></form></details>`;
}

let made = 0;

interface Field {
  readonly label: string;
  readonly name: string;
  readonly type: string;
  readonly where?: string;
  readonly value?: string;
}

function field({ label, name, type, where, value = "" }: Field): string {
  const id = `field-${++made}`;
  const at = where === undefined ? "" : ` data-in="${where}"`;
  // Browsers must not store a key.
  const keep = ' autocomplete="off" spellcheck="false"';
  return `<label for="${id}">${Bun.escapeHTML(label)}</label><input id="${id}" name="${Bun.escapeHTML(name)}" type="${type}" value="${Bun.escapeHTML(value)}"${at}${keep}>`;
}

function bodyField(content: Json): string {
  const id = `field-${++made}`;
  const [example] = Object.values((content["examples"] as Record<string, { value: unknown }> | undefined) ?? {});
  const text = JSON.stringify(example?.value ?? {}, null, 2);
  const rows = Math.min(16, text.split("\n").length + 1);
  return `<label for="${id}">Body</label><textarea id="${id}" name="body" rows="${rows}" spellcheck="false">${Bun.escapeHTML(text)}</textarea>`;
}
