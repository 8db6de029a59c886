// The architecture rules of the gateway's folders: the centre knows no stage, and stages are named in one list.

import type { Rule } from "./rules.ts";
import { importsOf } from "./source.ts";

const STAGES = "src/gateway/stages/";
const LIST = `${STAGES}index.ts`;

/** A rule over the imports of stages by the files that `where` accepts. */
function stageRule(name: string, where: (path: string) => boolean, refuse: (target: string) => boolean): Rule {
  return {
    name,
    check(files) {
      const read = [...files.keys()].filter((path) => path.startsWith("src/"));
      const violations = read
        .filter(where)
        .flatMap((path) =>
          importsOf(path, files.get(path) ?? "").flatMap(({ target }) =>
            target?.startsWith(STAGES) === true && refuse(target) ? [`${path} imports ${target}`] : [],
          ),
        );
      return { looked: read.length, violations };
    },
  };
}

export const centreKnowsNoStage = stageRule(
  "the gateway's centre imports no stage",
  (path) => path.startsWith("src/gateway/centre/"),
  () => true,
);

export const stagesAreListed = stageRule(
  "a stage is named in the list of stages alone",
  (path) => path !== LIST,
  (target) => target.endsWith("/stage.ts"),
);
