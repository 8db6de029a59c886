// The thread that converts pages to Markdown. It is an entry point of its own in the built program.

import { serveTasks } from "../../workers/serve.ts";
import { decodeHtml } from "./charset.ts";
import { documentMarkdown } from "./documents.ts";
import { type Extracted, extractPage } from "./extract.ts";
import { type MapLinks, mapLinks } from "./map-links.ts";
import { type PdfText, readPdf } from "./pdf-text.ts";
import { type SiteLinks, siteLinks } from "./site-links.ts";
import { parseSitemap } from "./sitemap-text.ts";
import type { ConvertTask, SitemapLines } from "./task.ts";

serveTasks<ConvertTask, Extracted | PdfText | SitemapLines | SiteLinks | MapLinks>((task) => {
  switch (task.kind) {
    case "html":
      return extractPage(decodeHtml(task.bytes, task.contentType), task.options);
    case "document":
      return documentMarkdown(task.document, task.bytes, { url: task.options.url, contentType: task.contentType });
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
