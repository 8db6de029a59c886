// Moves named schemas (`$id`) to `components.schemas` and leaves references in their place.

import type { TSchema } from "@sinclair/typebox";

/** A JSON object. */
export type Json = Record<string, unknown>;

/** Collects named schemas while a document is built. */
export class Schemas {
  readonly #named = new Map<string, string>();
  readonly #out: Record<string, Json> = {};

  /** The schema as plain JSON, with references to named ones. */
  place(schema: TSchema): Json {
    return this.#place(schema as unknown as Json) as Json;
  }

  /** Every named schema, by name. */
  components(): Record<string, Json> {
    return Object.fromEntries(Object.entries(this.#out).sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #place(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#place(one));
    if (typeof value !== "object" || value === null) return value;
    const { $id, ...rest } = value as Json;
    if (typeof $id !== "string") return this.#members(rest);
    const text = JSON.stringify(rest);
    const known = this.#named.get($id);
    if (known === undefined) {
      this.#named.set($id, text);
      this.#out[$id] = this.#members(rest);
    } else if (known !== text) throw new Error(`Two schemas are called ${$id}.`);
    return { $ref: `#/components/schemas/${$id}` };
  }

  #members(fields: Json): Json {
    // TypeBox writes enumerations as `const` alternatives, which read better as `enum`.
    return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, this.#place(value)]));
  }
}
