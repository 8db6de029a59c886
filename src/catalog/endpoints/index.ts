// The endpoints for models that do not chat: one line each. Its fixture is a file of its name in test/gateway/endpoints.

import { embeddings } from "./embeddings.ts";
import type { ModelEndpoint } from "./endpoint.ts";
import { rerank } from "./rerank.ts";
import { transcriptions, translations } from "./transcriptions.ts";

/** Every such endpoint. */
export const MODEL_ENDPOINTS: readonly ModelEndpoint[] = [embeddings, rerank, transcriptions, translations];
