// A worker thread for tests of the pool: it echoes, throws, loops forever, or stops itself.

import { getPriority } from "node:os";
import { serveTasks } from "../../src/workers/serve.ts";

serveTasks<{ what: "echo" | "throw" | "loop" | "exit" | "priority"; value?: number }, number>((task) => {
  if (task.what === "throw") throw new Error("broken");
  if (task.what === "exit") process.exit(3);
  if (task.what === "priority") return getPriority(0);
  if (task.what === "loop") for (;;) if (Math.random() > 2) break;
  return task.value ?? 0;
});
