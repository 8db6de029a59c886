// The thread that reads and judges by robots.txt files too large or too intricate for the event loop. An entry of its own
// in the built program.

import { serveTasks } from "../../workers/serve.ts";
import { type OpenRules, openRules, readRobots } from "./file.ts";
import { type ReadAnswer, type RobotsTask, sharedText, shareText } from "./task.ts";

/** Opened files that are kept: each is up to tens of megabytes here. */
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
