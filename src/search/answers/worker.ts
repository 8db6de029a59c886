// The thread that parses responses which are too large for the event loop. It is an entry point of its own in the built program.

import { serveTasks } from "../../workers/serve.ts";
import type { Parsed } from "../engine.ts";
import { ENGINES } from "../engines/index.ts";
import type { AnswerReadTask } from "./task.ts";

serveTasks<AnswerReadTask, Parsed>(({ engine: name, response, context }) => {
  const engine = ENGINES.find((one) => one.name === name);
  if (engine === undefined) throw new Error(`There is no search engine ${name}.`);
  const headers = new Headers(response.headers.map(([key, value]): [string, string] => [key, value]));
  return engine.parse({ ...response, headers }, context);
});
