// The thread for robots.txt files that are too large or too complex for the event loop. It is an entry point of its own in the
// built program.

import { serveTasks } from "../../workers/serve.ts";
import { type OpenRules, openRules, readRobots } from "./file.ts";
import { type ReadAnswer, type RobotsTask, sharedText, shareText } from "./task.ts";

/** The number of prepared files that are kept. Each takes up to tens of megabytes. */
const OPEN_MAX = 4;
const opened = new Map<number, OpenRules>();

serveTasks<RobotsTask, ReadAnswer | boolean>((task) => {
  if (task.kind === "judge") return rulesOf(task.id, task.rules).allows(task.path);
  const { rules, ...file } = readRobots(task.url, new TextDecoder().decode(task.body), task.robot);
  return { ...file, rules: shareText(rules), crawlDelayMs: openRules(rules).crawlDelayMs };
});

function rulesOf(id: number, text: SharedArrayBuffer): OpenRules {
  const rules = opened.get(id) ?? openRules(sharedText(text));
  opened.delete(id);
  opened.set(id, rules);
  if (opened.size > OPEN_MAX) opened.delete(opened.keys().next().value as number);
  return rules;
}
