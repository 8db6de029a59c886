// The descriptions of the endpoints of projects, for the documentation alone.

import { type TSchema, Type } from "@sinclair/typebox";
import type { ErrorCode } from "../../base/errors.ts";
import { oneOf, orNull, pathId } from "../../http/endpoint.ts";
import { optionalRuns, runLimits } from "../../http/run-limits-schema.ts";
import type { NamelessText } from "../../http/served-endpoint.ts";
import { PROJECT_ROLES } from "../../store/access/projects.ts";
import { BUDGET_USD_MAX, NAME_CHARS_MAX, PROJECT_LIMIT_MAX } from "./fields.ts";

const limit = (description: string) => orNull(Type.Integer({ minimum: 1, maximum: PROJECT_LIMIT_MAX, description }));
const NAME = Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX });
const LIMITS = {
  budget: orNull(
    Type.Number({ minimum: 0, maximum: BUDGET_USD_MAX, description: "US dollars for all its keys together." }),
  ),
  budget_period: orNull(Type.String({ description: "The budget renews after each, such as `30d`; null: never." })),
  rpm: limit("Requests a minute of all its keys together."),
  tpm: limit("Tokens a minute of all its keys together."),
  parallel: limit("Requests at once of all its keys together."),
  models: orNull(Type.Array(Type.String(), { description: "Patterns of the models that its keys may use." })),
};
const RUNS = "Limits of each agent run of its keys, beside those of the plan and the key.";
const optional = {
  ...Object.fromEntries(Object.entries(LIMITS).map(([name, schema]) => [name, Type.Optional(schema as TSchema)])),
  runs: optionalRuns(RUNS),
};

const PROJECT = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("project"),
    name: Type.String(),
    role: oneOf(PROJECT_ROLES, { description: "Your own." }),
    ...LIMITS,
    runs: runLimits(RUNS),
    spent: Type.Number({
      description: "US dollars since the budget was last reset; without a budget, all that its keys have spent.",
    }),
    resets_at: orNull(Type.String({ description: "When the budget is next reset; null: never." })),
    members: Type.Integer({ description: "How many there are." }),
    keys: Type.Integer({ description: "How many there are that are not revoked." }),
    created_at: Type.String(),
  },
  { $id: "Project" },
);

const MEMBER = Type.Object(
  {
    email: Type.String(),
    username: Type.String(),
    role: oneOf(PROJECT_ROLES),
    provider: orNull(
      Type.String({ description: "The identity provider whose groups made it a member; null: a person did." }),
    ),
    created_at: Type.String(),
  },
  { $id: "ProjectMember" },
);

const listOf = (schema: TSchema, name: string) =>
  Type.Object({ object: Type.Literal("list"), data: Type.Array(schema) }, { $id: name });

const ID = pathId("id", "The project's id.", "01a21dde-bb46-703d-a56e-e6b8135ddee1");
const EMAIL = pathId("email", "The member's e-mail address.", "someone@example.com");

interface Told {
  readonly summary: string;
  readonly description: string;
  readonly schema: TSchema;
  readonly parameters?: NamelessText["parameters"];
  readonly body?: NamelessText["body"];
  readonly status?: number;
  readonly errors?: readonly ErrorCode[];
}

function told({ schema, status = 200, parameters = [ID], body, errors = [], ...text }: Told): NamelessText {
  const notFound: readonly ErrorCode[] = parameters.length === 0 || parameters[0] !== ID ? [] : ["project_not_found"];
  return {
    ...{ group: "Accounts", ...text, parameters },
    answer: { status, description: "Done.", schema },
    errors: [...notFound, ...errors],
    ...(body === undefined ? {} : { body }),
  };
}

const deleted = (members: Record<string, TSchema>, name: string) =>
  Type.Object({ ...members, deleted: Type.Literal(true) }, { $id: name });

/** The descriptions, by the names of the operations. */
export const PROJECT_TEXTS = {
  createProject: told({
    summary: "Create a project",
    description:
      "A project is a group of keys with limits of its own, which hold beside those of each key and account. The account of the management key becomes its owner.",
    parameters: [],
    body: {
      schema: Type.Object({ name: NAME, ...optional }, { $id: "NewProject", additionalProperties: true }),
      examples: { plain: { name: "search", budget: 50, budget_period: "30d", models: ["demo-*"] } },
    },
    ...{ schema: PROJECT, status: 201, errors: ["project_role_required"] },
  }),
  listProjects: told({
    summary: "List projects",
    description:
      "Those of which the key's account is a member, the oldest first; for a key of one project this one, for a key that manages all accounts 500 projects of all accounts.",
    parameters: [
      {
        ...{ name: "after", in: "query" },
        schema: Type.String({ description: "The last id of the page before, for a key that manages all accounts." }),
      },
    ],
    schema: listOf(PROJECT, "ProjectList"),
  }),
  getProject: told({ summary: "Get a project", description: "Its limits, and what is spent.", schema: PROJECT }),
  changeProject: told({
    summary: "Change a project",
    description:
      "What is absent stays; null takes a limit away. Another amount for the same period keeps the amount spent, another period begins now. For owners and managers.",
    body: {
      schema: Type.Object(
        { name: Type.Optional(NAME), ...optional },
        { $id: "ProjectChange", additionalProperties: true },
      ),
      examples: { plain: { rpm: 60, budget: null } },
    },
    ...{ schema: PROJECT, errors: ["project_role_required"] },
  }),
  deleteProject: told({
    summary: "Delete a project",
    description: "Revokes its keys. For owners.",
    schema: deleted({ id: Type.String(), object: Type.Literal("project") }, "ProjectDeleted"),
    errors: ["project_role_required"],
  }),
  listProjectMembers: told({
    summary: "List the members of a project",
    description: "In the order in which they joined.",
    schema: listOf(MEMBER, "ProjectMemberList"),
  }),
  setProjectMember: told({
    summary: "Add a member to a project",
    description:
      "An account of this gateway, which makes own keys in the project and sees its usage. For a member that there is: gives it another role. For owners and managers; only owners decide about owners.",
    body: {
      schema: Type.Object(
        { email: Type.String(), role: Type.Optional(oneOf(PROJECT_ROLES, { default: "member" })) },
        { $id: "NewProjectMember", additionalProperties: true },
      ),
      examples: { plain: { email: "someone@example.com", role: "member" } },
    },
    ...{ schema: MEMBER, errors: ["project_role_required", "project_last_owner", "account_not_found"] },
  }),
  removeProjectMember: told({
    summary: "Remove a member from a project",
    description: "Revokes the member's keys in the project. For owners and managers; everyone may leave.",
    parameters: [ID, EMAIL],
    schema: deleted({ email: Type.String() }, "ProjectMemberRemoved"),
    errors: ["project_role_required", "project_last_owner", "project_member_not_found"],
  }),
};
