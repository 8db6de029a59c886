// What is sent to a conversion thread.

import type { DocumentKind } from "./documents.ts";
import type { ExtractOptions } from "./extract.ts";
import type { MapLinksTask } from "./map-links.ts";
import type { SiteLinksTask } from "./site-links.ts";

/** One conversion of a page. PDFs are read elsewhere: see pdf-reader.ts. */
export type PageTask =
  | {
      readonly kind: "html";
      readonly bytes: Uint8Array;
      readonly contentType: string | null;
      readonly options: ExtractOptions;
    }
  | {
      readonly kind: "document";
      readonly document: Exclude<DocumentKind, "pdf">;
      readonly bytes: Uint8Array;
      readonly contentType: string | null;
      readonly options: ExtractOptions;
    };

/** A sitemap to be read. */
export interface SitemapTask {
  readonly bytes: Uint8Array;
  readonly url: string;
}

/** A PDF to be read, in the process for it. */
export interface PdfTask {
  readonly kind: "pdf";
  readonly bytes: Uint8Array;
  /** The most that its streams may unpack to. */
  readonly bytesMax: number;
}

/** What a thread takes. */
export type ConvertTask =
  | PageTask
  | ({ readonly kind: "sitemap" } & SitemapTask)
  | ({ readonly kind: "links" } & SiteLinksTask)
  | ({ readonly kind: "map" } & MapLinksTask)
  | PdfTask;

/** What a thread makes of a sitemap: its addresses line by line, as one text crosses between threads faster than many. */
export interface SitemapLines {
  readonly urls: string;
  readonly sitemaps: string;
  readonly priorities?: ReadonlyMap<string, number> | undefined;
}
