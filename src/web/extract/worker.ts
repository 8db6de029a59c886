// The thread that validates answers against callers' schemas. It is an entry point of its own in the built program.

import { serveTasks } from "../../workers/serve.ts";
import { type ValidateAnswer, type ValidateTask, validateNow } from "./ajv.ts";

serveTasks<ValidateTask, ValidateAnswer>(validateNow);
