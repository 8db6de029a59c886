// The table of a format: one line for each member of its requests. Everything that concerns a member follows from its line: how it is
// read, that it is known (so that it is not treated as foreign), how the API document describes it, and its name in reports.
// A neutral parameter that a table neither reads nor declares absent does not compile.

import { type Parameter, parameterName, reasoningName } from "../chat/parameters.ts";
import type { ChatRequest, ReasoningOptions } from "../chat/request.ts";
import { expectFields, type Fields } from "./check.ts";
import type { ClientNames } from "./client-names.ts";
import type { ObjectShape } from "./unread.ts";
import type { ValueRule } from "./values.ts";

/** A member of a body that is read by its rule. */
export interface BodyField<T> {
  /** Its name, or its path within an object of the top level (`reasoning.effort`). */
  readonly path: string;
  readonly rule: ValueRule<T>;
  readonly description: string;
}

/** Several members for one parameter. The first that is given counts. */
interface Alternatives<T> {
  readonly fields: readonly BodyField<T>[];
  /** Whether those that do not count are checked too. */
  readonly checksAll: boolean;
}

/**
 * Where a format has a parameter: in a member, in one of several, in members that a function reads (which are listed in `members`),
 * or nowhere.
 */
type Source<T> = BodyField<T> | Alternatives<T> | ((body: Fields) => T | undefined) | false;

/** A member that is not a parameter, or that functions read. */
export interface BodyMember {
  readonly description: string;
  /** The JSON Schema. If it is absent, the API document has a schema of its own. */
  readonly schema?: Fields;
  readonly required?: true;
  /** Whether members of this object that have no neutral form are reported as dropped. */
  readonly watched?: true;
}

type Named<T> = Readonly<Record<string, T>>;

/** What a format's table states. */
interface Table<Members extends Named<BodyMember>> {
  readonly parameters: { readonly [Name in Parameter | "threadId"]: Source<NonNullable<ChatRequest[Name]>> };
  readonly reasoning: { readonly [Name in keyof ReasoningOptions]-?: Source<NonNullable<ReasoningOptions[Name]>> };
  readonly members: Members;
  /** Members without a neutral form, which providers of the same format get unchanged. */
  readonly foreign: Named<string | BodyMember>;
}

/** What is read by the table. */
export type ReadParameters = Partial<Pick<ChatRequest, Parameter | "threadId" | "reasoning">>;

/** A table that is ready for use. */
export interface FormatFields<Members extends Named<BodyMember> = Named<BodyMember>> {
  /** Reads the parameters. Throws 400 that names the member. */
  read(body: Fields): ReadParameters;
  /** The top-level members with a neutral form. All others become `extra`. */
  readonly known: ReadonlySet<string>;
  /** The nested members that are read, of the objects that are watched. */
  readonly shapes: Named<ObjectShape>;
  /** The client's names of the parameters. */
  readonly names: ClientNames;
  /** The members that are read by a rule. */
  readonly fields: readonly BodyField<unknown>[];
  /** The described members, in the order of the API document. */
  described(): Named<BodyMember>;
  readonly members: Members;
}

/** A member that is read by a rule. */
export function field<T>(path: string, rule: ValueRule<T>, description: string): BodyField<T> {
  return { path, rule, description };
}

/** The first of several members that is given. The others are ignored. */
export function firstOf<T>(...fields: BodyField<T>[]): Alternatives<T> {
  return { fields, checksAll: false };
}

/** The first of several members that is given. The others are checked nevertheless. */
export function eachOf<T>(...fields: BodyField<T>[]): Alternatives<T> {
  return { fields, checksAll: true };
}

/** Prepares a table once, at start. */
export function formatFields<const Members extends Named<BodyMember>>(table: Table<Members>): FormatFields<Members> {
  const parameters = stepsOf(table.parameters);
  const reasoning = stepsOf(table.reasoning);
  const [parametersFor, reasoningFor] = [stepsFor(parameters), stepsFor(reasoning)];
  const fields = [...parameters, ...reasoning].flatMap(({ places }) => places);
  const described = () => describe(table, fields);
  return {
    read(body) {
      const read = readSteps(parametersFor(body), body) ?? {};
      const options = readSteps(reasoningFor(body), body);
      if (options !== undefined) read["reasoning"] = options;
      return read;
    },
    known: new Set([...Object.keys(table.members), ...fields.map(({ container, name }) => container ?? name)]),
    shapes: shapesOf(described()),
    names: {
      ...namesOf(parameters, parameterName),
      ...namesOf(reasoning, reasoningName),
    },
    fields,
    described,
    members: table.members,
  };
}

interface Place extends BodyField<unknown> {
  readonly container: string | undefined;
  readonly name: string;
}

type Read = (body: Fields) => unknown;

/** How one parameter is read. */
interface Step {
  readonly key: string;
  readonly places: readonly Place[];
  readonly read: Read;
}

/** The steps of a table, without the parameters that the format does not have. */
function stepsOf(table: Named<Source<unknown>>): Step[] {
  return Object.entries(table).flatMap(([key, source]): Step[] => {
    if (source === false) return [];
    if (typeof source === "function") return [{ key, places: [], read: source }];
    const { fields, checksAll } = "fields" in source ? source : { fields: [source], checksAll: false };
    const places = fields.map((one) => {
      const [first = "", nested] = one.path.split(".");
      return { ...one, container: nested === undefined ? undefined : first, name: nested ?? first };
    });
    const reads = places.map(readerOf);
    return [{ key, places, read: reads.length === 1 ? reads[0]! : readerOfSeveral(reads, checksAll) }];
  });
}

function readerOf({ container, name, path, rule: { check } }: Place): Read {
  const read = (fields: Fields) => {
    const value = fields[name];
    return value === undefined || value === null ? undefined : check(value, path);
  };
  if (container === undefined) return read;
  return (body) => {
    const fields = body[container];
    return fields === undefined || fields === null ? undefined : read(expectFields(fields, container));
  };
}

function readerOfSeveral(reads: readonly Read[], checksAll: boolean): Read {
  return (body) => {
    let value: unknown;
    for (const read of reads) {
      if (value === undefined) value = read(body);
      else if (checksAll) read(body);
    }
    return value;
  };
}

/** Masks of members have a bit for each step. More bits than these are no whole number. */
const MASKED_STEPS_MAX = 52;
/** Clients send few sets of members. Further ones are put together anew. */
const PLANS_MAX = 200;

/** The steps that a body needs: those of its members, and those that no member stands for. They are kept by the set of members. */
function stepsFor(steps: readonly Step[]): (body: Fields) => readonly Step[] {
  const always = steps.filter(({ places }) => places.length === 0);
  const bits = bitsOf(steps);
  const plans = new Map<number, readonly Step[]>([[0, always]]);
  return (body) => {
    let mask = 0;
    for (const name in body) {
      // Several members may stand for the same step.
      for (const bit of bits.get(name) ?? NO_BITS) if (Math.floor(mask / bit) % 2 === 0) mask += bit;
    }
    const known = plans.get(mask);
    if (known !== undefined) return known;
    const plan = maskedSteps(steps, mask);
    if (plans.size < PLANS_MAX) plans.set(mask, plan);
    return plan;
  };
}

function maskedSteps(steps: readonly Step[], mask: number): Step[] {
  return steps.filter(({ places }, at) => places.length === 0 || Math.floor(mask / 2 ** at) % 2 === 1);
}

const NO_BITS: readonly number[] = [];

/** The bits of the steps that each member of the top level stands for. */
function bitsOf(steps: readonly Step[]): Map<string, readonly number[]> {
  if (steps.length > MASKED_STEPS_MAX) throw new Error("The table has too many parameters.");
  const bits = new Map<string, number[]>();
  for (const [at, { places }] of steps.entries()) {
    for (const member of new Set(places.map(({ container, name }) => container ?? name)))
      bits.set(member, [...(bits.get(member) ?? []), 2 ** at]);
  }
  return bits;
}

/** The values that are given; undefined if there are none. */
function readSteps(steps: readonly Step[], body: Fields): Record<string, unknown> | undefined {
  let out: Record<string, unknown> | undefined;
  for (const { key, read } of steps) {
    const value = read(body);
    if (value === undefined) continue;
    out ??= {};
    out[key] = value;
  }
  return out;
}

/** The names of parameters that the format calls otherwise. */
function namesOf(steps: readonly Step[], nameOf: (key: string) => string): Record<string, string[]> {
  const names: Record<string, string[]> = {};
  for (const { key, places } of steps) {
    const paths = places.map(({ path }) => path);
    if (paths.length > 0 && paths.join() !== nameOf(key)) names[nameOf(key)] = paths;
  }
  return names;
}

const PASSED_ON = "Passed on to providers that support it.";

function describe(table: Table<Named<BodyMember>>, places: readonly Place[]): Record<string, BodyMember> {
  const described: Record<string, BodyMember> = { ...table.members };
  for (const { container, name, rule, description } of places) {
    const member = { description, schema: rule.schema };
    if (container === undefined) described[name] ??= member;
    else described[container] = withNested(described[container], name, member);
  }
  for (const [name, one] of Object.entries(table.foreign)) {
    described[name] = typeof one === "string" ? { description: `${one} ${PASSED_ON}`, schema: {} } : one;
  }
  return described;
}

function withNested(object: BodyMember | undefined, name: string, { description, schema }: BodyMember): BodyMember {
  const properties = { ...(object?.schema?.["properties"] as Fields | undefined), [name]: { ...schema, description } };
  const outer = { type: "object", additionalProperties: true, ...object?.schema, properties };
  return { description: "", ...object, schema: outer };
}

function shapesOf(described: Named<BodyMember>): Record<string, ObjectShape> {
  const watched = Object.entries(described).filter(([, member]) => member.watched === true);
  return Object.fromEntries(watched.map(([name, { schema = {} }]) => [name, shapeOf(schema)]));
}

/** What is read of an object: what is documented of it. */
function shapeOf(schema: Fields): ObjectShape {
  const properties = Object.entries((schema["properties"] ?? {}) as Named<Fields>);
  const hasMembers = (one: Fields) => one["properties"] !== undefined;
  const holds = properties.filter(([, one]) => hasMembers(one)).map(([name, one]) => [name, shapeOf(one)] as const);
  const reads = properties.filter(([, one]) => !hasMembers(one)).map(([name]) => name);
  return { reads: reads.join(" "), holds: Object.fromEntries(holds) };
}
