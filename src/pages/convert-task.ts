// What is sent to a conversion thread.

import type { DocumentKind } from "./documents.ts";
import type { ExtractOptions } from "./extract.ts";

/** One conversion. */
export type ConvertTask =
  | {
      readonly kind: "html";
      readonly bytes: Uint8Array;
      readonly contentType: string | null;
      readonly options: ExtractOptions;
    }
  | {
      readonly kind: "document";
      readonly document: DocumentKind;
      readonly bytes: Uint8Array;
      readonly contentType: string | null;
      readonly options: ExtractOptions;
    };
