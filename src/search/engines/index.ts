// Every search engine. A new one is a file, a line here and a folder of samples in test/search/samples.

import type { SearchEngine } from "../engine.ts";
import { hackernews } from "./hackernews.ts";
import { wikipedia } from "./wikipedia.ts";

/** In the order in which engines of equal standing are asked. */
export const ENGINES: readonly SearchEngine[] = [wikipedia, hackernews];
