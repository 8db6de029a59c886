// The architecture rules of the gateway's folders: the centre knows no feature, and stages are named in one list.

import type { Rule } from "./rules.ts";
import { importsOf } from "./source.ts";

const GATEWAY = "src/gateway/";
const STAGES = `${GATEWAY}stages/`;
/** The folders that every feature may use. */
const CENTRAL = ["centre", "calls", "rules", "usage", "admission"].map((name) => `${GATEWAY}${name}/`);
/** The folders of features. */
const FEATURES = ["stages", "endpoints", "inner"].map((name) => `${GATEWAY}${name}/`);

const isIn = (folders: readonly string[], path: string) => folders.some((folder) => path.startsWith(folder));

/** A rule over the imports of features by the files that `where` accepts. */
function featureRule(name: string, where: (path: string) => boolean, refuse: (target: string) => boolean): Rule {
  return {
    name,
    check(files) {
      const read = [...files.keys()].filter((path) => path.startsWith("src/"));
      const violations = read
        .filter(where)
        .flatMap((path) =>
          importsOf(path, files.get(path) ?? "").flatMap(({ target }) =>
            target !== undefined && isIn(FEATURES, target) && refuse(target) ? [`${path} imports ${target}`] : [],
          ),
        );
      return { looked: read.length, violations };
    },
  };
}

export const centreKnowsNoFeature = featureRule(
  "the gateway's centre imports no stage, endpoint or inner caller",
  (path) => isIn(CENTRAL, path),
  () => true,
);

export const stagesAreListed = featureRule(
  "a stage is named in the list of stages alone",
  (path) => path !== `${STAGES}index.ts`,
  (target) => target.startsWith(STAGES) && target.endsWith("/stage.ts"),
);

export const stagesImportNoEndpoint = featureRule(
  "a stage imports no endpoint",
  (path) => path.startsWith(STAGES),
  (target) => target.startsWith(`${GATEWAY}endpoints/`),
);
