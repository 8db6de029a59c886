// What the file of a cloud contains beside the rest of a vendor's: one account reaches models of several makers there, and a model's
// name decides with which protocol and at which address. Data only; it is used by config/providers and upstream/clouds.

import type { CREDENTIAL_KINDS, DialectName } from "./protocols.ts";

/** The parts of a cloud's addresses that only the operator knows: `{region}` in a template. */
export type CloudPlace = "region" | "project" | "resource";

/** A cloud. */
export interface CloudFacts {
  /** Scheme and host, for the first pattern that fits the region; `base_url` replaces it. */
  readonly origins: readonly { readonly region?: RegExp; readonly origin: string }[];
  /** What must be known, with the variables of the cloud's own tools and the usual value. */
  readonly places: Readonly<
    Partial<Record<CloudPlace, { readonly variables: readonly string[]; readonly usual?: string }>>
  >;
  /** What authenticates calls if there is no key. */
  readonly credential: (typeof CREDENTIAL_KINDS)[number] | "key";
  /** The service for which calls are signed. */
  readonly service?: string;
  /** A variable that holds a key for this cloud and another one. */
  readonly keyVariable?: string;
  /** The first whose pattern fits a model's name applies, in the protocols that it lists. */
  readonly offers: readonly CloudOffer[];
  /** Where the models are listed, below the origin. */
  readonly list?: string;
  /** The part of the host that differs for lists, and what stands in its place. */
  readonly listHost?: readonly [from: string, to: string];
}

/** How some models are reached. */
export interface CloudOffer {
  /** Absent: all others. */
  readonly models?: RegExp;
  /** In the order of preference; one that the client speaks too goes first. */
  readonly protocols: readonly DialectName[];
  /** Another host than the cloud's usual one. */
  readonly origin?: string;
  /** The path below the host, with places in braces. */
  readonly path: string;
  /** How requests differ from those of the protocol's own vendor; absent: in nothing. */
  readonly shape?: CloudShape;
  /** An example for the documentation. */
  readonly example: string;
}

/** The ways in which clouds change requests (upstream/clouds/shapes.ts). */
export type CloudShape = "invoke-model" | "raw-predict";

/** The value of `anthropic_version` in bodies of each shape, from the clouds' own pages (2026-11). */
export const CLOUD_VERSIONS: Readonly<Record<CloudShape, string>> = {
  "invoke-model": "bedrock-2023-05-31",
  "raw-predict": "vertex-2023-10-16",
};

/** A template with its places filled. */
export function filled(template: string, places: Readonly<Partial<Record<CloudPlace, string>>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_whole, place: CloudPlace) => places[place] ?? "");
}

/** The origin of a cloud. */
export function cloudOrigin({ origins }: CloudFacts, places: Readonly<Partial<Record<CloudPlace, string>>>): string {
  const found = origins.find(({ region }) => region === undefined || region.test(places.region ?? ""));
  return found === undefined ? "" : filled(found.origin, places);
}
