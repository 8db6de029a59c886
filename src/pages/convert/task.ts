// The messages that are sent to a conversion thread.

import type { DocumentKind } from "./document-kind.ts";
import type { ExtractOptions } from "./extract.ts";
import type { MapLinksTask } from "./map-links.ts";
import type { LinkPick, SiteLinksTask } from "./site-links.ts";

/** One page to convert. PDFs are read in pdf-reader.ts. */
export type PageTask =
  | {
      readonly kind: "html";
      readonly bytes: Uint8Array;
      readonly contentType: string | null;
      readonly options: ExtractOptions;
      /** Which links to select, for crawls. */
      readonly pick?: LinkPick | undefined;
    }
  | {
      readonly kind: "document";
      readonly document: Exclude<DocumentKind, "pdf">;
      readonly bytes: Uint8Array;
      readonly contentType: string | null;
      readonly options: ExtractOptions;
      readonly pick?: LinkPick | undefined;
    };

/** A sitemap to read. */
export interface SitemapTask {
  readonly bytes: Uint8Array;
  readonly url: string;
}

/** A PDF to read, in its own process. */
export interface PdfTask {
  readonly kind: "pdf";
  readonly bytes: Uint8Array;
  /** The limit of the unpacked size of its streams. */
  readonly bytesMax: number;
}

/** The tasks that a thread can run. */
export type ConvertTask =
  | PageTask
  | ({ readonly kind: "sitemap" } & SitemapTask)
  | ({ readonly kind: "links" } & SiteLinksTask)
  | ({ readonly kind: "map" } & MapLinksTask)
  | PdfTask;

/** A thread's result for a sitemap. Addresses are one per line, since one string is sent between threads faster than many. */
export interface SitemapLines {
  readonly urls: string;
  readonly sitemaps: string;
  readonly priorities?: ReadonlyMap<string, number> | undefined;
}
