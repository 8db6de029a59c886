// What the event loop sends to the threads of extractions, and what they answer.

import type { ValidateAnswer } from "./ajv.ts";
import type { AnsweredPage, PartAnswer } from "./check-part.ts";
import type { StructuredAnswer, StructuredPage } from "./from-structured.ts";
import type { MergedAnswer, PageAnswer } from "./merge.ts";
import type { PageParts, PartsTask } from "./parts.ts";
import type { JsonSchema } from "./schema.ts";

/** A task of a thread. */
export type ThreadTask =
  | { readonly kind: "validate"; readonly schema: JsonSchema; readonly value: unknown }
  | { readonly kind: "split"; readonly task: PartsTask }
  | { readonly kind: "check"; readonly answer: PartAnswer }
  | { readonly kind: "structured"; readonly schema: JsonSchema; readonly page: StructuredPage }
  | { readonly kind: "merge"; readonly schema: JsonSchema | null; readonly answers: readonly PageAnswer[] };

/** The answer to a task of the same kind. */
export type ThreadAnswer =
  | { readonly kind: "validate"; readonly answer: ValidateAnswer }
  | { readonly kind: "split"; readonly parts: PageParts }
  | { readonly kind: "check"; readonly page: AnsweredPage }
  | { readonly kind: "structured"; readonly answer: StructuredAnswer }
  | { readonly kind: "merge"; readonly merged: MergedAnswer };
