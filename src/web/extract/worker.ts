// The thread that does the work of extractions. It is an entry point of its own in the built program.

import { serveTasks } from "../../workers/serve.ts";
import { validateNow } from "./ajv.ts";
import { checkedPart } from "./check-part.ts";
import { answerFromStructured } from "./from-structured.ts";
import { mergeAnswers } from "./merge.ts";
import { pageParts } from "./parts.ts";
import type { ThreadAnswer, ThreadTask } from "./thread-task.ts";

serveTasks<ThreadTask, ThreadAnswer>((task) => {
  const { kind } = task;
  switch (kind) {
    case "validate":
      return { kind, answer: validateNow(task) };
    case "split":
      return { kind, parts: pageParts(task.task) };
    case "check":
      return { kind, page: checkedPart(task.answer) };
    case "structured":
      return { kind, answer: answerFromStructured(task.schema, [task.page]) };
    case "merge":
      return { kind, merged: mergeAnswers(task.schema ?? undefined, task.answers) };
  }
});
