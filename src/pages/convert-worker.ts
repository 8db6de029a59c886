// The thread that turns pages into Markdown. An entry of its own in the built program.

import { serveTasks } from "../workers/serve.ts";
import { decodeHtml } from "./charset.ts";
import type { ConvertTask } from "./convert-task.ts";
import { documentMarkdown } from "./documents.ts";
import { type Extracted, extractPage } from "./extract.ts";

serveTasks<ConvertTask, Extracted>((task) =>
  task.kind === "document"
    ? documentMarkdown(task.document, task.bytes, { url: task.options.url, contentType: task.contentType })
    : extractPage(decodeHtml(task.bytes, task.contentType), task.options),
);
