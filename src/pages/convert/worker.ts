// The thread that converts pages to Markdown. It is an entry point of its own in the built program.

import { serveTasks } from "../../workers/serve.ts";
import { decodeHtml } from "./charset.ts";
import { documentMarkdown } from "./documents.ts";
import { type Extracted, extractPage } from "./extract.ts";
import { type MapLinks, mapLinks } from "./map-links.ts";
import { type PdfText, readPdf } from "./pdf-text.ts";
import { type LinkPick, type SiteLinks, siteLinks } from "./site-links.ts";
import { parseSitemap } from "./sitemap-text.ts";
import type { ConvertTask, SitemapLines } from "./task.ts";

serveTasks<ConvertTask, Extracted | PdfText | SitemapLines | SiteLinks | MapLinks>((task) => {
  switch (task.kind) {
    case "html":
      return picked(extractPage(decodeHtml(task.bytes, task.contentType), task.options), task.pick);
    case "document": {
      const { document, bytes, contentType, options, pick } = task;
      return picked(documentMarkdown(document, bytes, { url: options.url, contentType }), pick);
    }
    case "pdf":
      return readPdf(task.bytes, task.bytesMax);
    case "links":
      return siteLinks(task);
    case "map":
      return mapLinks(task);
    case "sitemap": {
      const { urls, sitemaps, priorities } = parseSitemap(new TextDecoder().decode(task.bytes), task.url);
      return { urls: urls.join("\n"), sitemaps: sitemaps.join("\n"), priorities };
    }
  }
});

/** Selects the links that a crawl follows. The others are not sent: a page may have megabytes of them. */
function picked(page: Extracted, pick: LinkPick | undefined): Extracted {
  if (pick === undefined) return page;
  return { ...page, allLinks: "", picked: siteLinks({ ...pick, links: page.allLinks }) };
}
