// The thread that checks answers against callers' schemas. An entry of its own in the built program.

import { serveTasks } from "../../workers/serve.ts";
import { type ValidateAnswer, type ValidateTask, validateNow } from "./ajv.ts";

serveTasks<ValidateTask, ValidateAnswer>(validateNow);
