// The thread that validates answers against callers' schemas. A separate entry point in the built program.

import { serveTasks } from "../../workers/serve.ts";
import { type ValidateAnswer, type ValidateTask, validateNow } from "./ajv.ts";

serveTasks<ValidateTask, ValidateAnswer>(validateNow);
