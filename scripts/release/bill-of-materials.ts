// The list of what is inside a release, in the form of CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/).

import type { Inside } from "./packages.ts";

/** What a list is about. */
export interface Contents {
  readonly version: string;
  readonly commit: string;
  readonly runtimeVersion: string;
  readonly packages: readonly Inside[];
}

/** The list as text: without a time or a serial number, so that the same content gives the same bytes. */
export function cycloneDx({ version, commit, runtimeVersion, packages }: Contents): string {
  const own = `pkg:generic/sallyport@${version}`;
  const components = [
    { name: "bun", version: runtimeVersion, licence: "MIT" },
    ...packages.map((one) => ({ name: one.name, version: one.version, licence: one.licence })),
  ].map(({ name, version: of, licence }) => {
    const purl = `pkg:npm/${name.replace("@", "%40")}@${of}`;
    const isExpression = /\s(?:OR|AND|WITH)\s/.test(licence);
    const licenses =
      licence === "NOASSERTION" ? [] : [isExpression ? { expression: licence } : { license: { id: licence } }];
    return { type: "library", "bom-ref": purl, name, version: of, purl, licenses };
  });
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": own,
        name: "sallyport",
        version,
        purl: own,
        licenses: [{ license: { id: "Apache-2.0" } }],
        properties: [{ name: "sallyport:commit", value: commit }],
      },
    },
    components,
    dependencies: [{ ref: own, dependsOn: components.map((one) => one["bom-ref"]) }],
  };
  return `${JSON.stringify(bill, undefined, 2)}\n`;
}
