// Members inside a request's parameters, messages and tools that no neutral word says: a translation loses them, so they
// are named. Kinds of tools and content that are listed nowhere here pass as a whole and are named by their kind instead.

import { isFields } from "./check.ts";
import type { WireFormat } from "./format.ts";

/** What is read of an object or of each object of a list. */
interface Shape {
  /** Members that are read or that say nothing to a model, with blanks between. */
  reads?: string;
  /** Members that are looked into. */
  holds?: Readonly<Record<string, Shape>>;
  /** By the member `type`; objects of other types are passed over. */
  kinds?: Readonly<Record<string, Shape>>;
  /** The type of an object that names none. */
  kind?: string;
}

interface Known {
  /** Where it stands, without places in lists. */
  path: string;
  reads: ReadonlySet<string>;
  holds: ReadonlyMap<string, Known>;
  kinds: ReadonlyMap<string, Known> | undefined;
  kind: string | undefined;
}

function known(shape: Shape, path = ""): Known {
  const under = (name: string) => (path === "" ? name : `${path}.${name}`);
  const entries = (shapes: Readonly<Record<string, Shape>>, at: (name: string) => string) =>
    new Map(Object.entries(shapes).map(([name, inner]) => [name, known(inner, at(name))]));
  return {
    path,
    reads: new Set((shape.reads ?? "").split(" ")),
    holds: entries(shape.holds ?? {}, under),
    kinds: shape.kinds === undefined ? undefined : entries(shape.kinds, () => path),
    kind: shape.kind,
  };
}

const CHAT_FUNCTION: Shape = { reads: "name description parameters strict" };
const CHAT_TEXT: Shape = { reads: "type text refusal cache_control" };
const CHAT: Shape = {
  holds: {
    stream_options: { reads: "include_usage" },
    reasoning: { reads: "effort max_tokens enabled" },
    response_format: { reads: "type", holds: { json_schema: { reads: "name schema strict description" } } },
    functions: CHAT_FUNCTION,
    tools: {
      kinds: {
        function: { reads: "type cache_control", holds: { function: CHAT_FUNCTION } },
        custom: { reads: "type", holds: { custom: { reads: "name description format" } } },
      },
    },
    messages: {
      reads:
        "role name tool_call_id tool_calls function_call refusal reasoning reasoning_content reasoning_details cache_control",
      holds: {
        content: {
          kinds: {
            text: CHAT_TEXT,
            refusal: CHAT_TEXT,
            image_url: { reads: "type cache_control", holds: { image_url: { reads: "url detail" } } },
            input_audio: { reads: "type", holds: { input_audio: { reads: "data format" } } },
            file: { reads: "type cache_control", holds: { file: { reads: "file_id file_data filename" } } },
          },
        },
      },
    },
  },
};

const RESPONSES_FUNCTION: Shape = {
  reads: "type name description parameters strict",
  holds: { function: { reads: "name description parameters strict" } },
};
const RESPONSES_CUSTOM: Shape = {
  reads: "type name description format",
  holds: { custom: { reads: "name description format" } },
};
const RESPONSES_TEXT: Shape = { reads: "type text logprobs" };
const RESPONSES: Shape = {
  holds: {
    stream_options: {},
    reasoning: { reads: "effort summary generate_summary" },
    text: { reads: "verbosity", holds: { format: { reads: "type name schema strict description" } } },
    tools: {
      kinds: {
        function: RESPONSES_FUNCTION,
        custom: RESPONSES_CUSTOM,
        namespace: {
          // What a namespace is for stands nowhere in a flattened name.
          reads: "type name",
          holds: { tools: { kinds: { function: RESPONSES_FUNCTION, custom: RESPONSES_CUSTOM } } },
        },
      },
    },
    input: {
      kind: "message",
      kinds: {
        message: {
          reads: "type role id status",
          holds: {
            content: {
              kinds: {
                input_text: RESPONSES_TEXT,
                output_text: RESPONSES_TEXT,
                text: RESPONSES_TEXT,
                refusal: { reads: "type refusal" },
                input_image: { reads: "type image_url file_id detail" },
                input_file: { reads: "type file_id file_url file_data filename" },
              },
            },
          },
        },
      },
    },
  },
};

const MESSAGES_TEXT: Shape = { reads: "type text cache_control" };
const MESSAGES: Shape = {
  holds: {
    output_config: { reads: "effort", holds: { format: { reads: "type schema" } } },
    thinking: { reads: "type budget_tokens display" },
    system: { kinds: { text: MESSAGES_TEXT } },
    tools: {
      kind: "custom",
      kinds: { custom: { reads: "type name description input_schema strict cache_control" } },
    },
    messages: {
      reads: "role",
      holds: {
        content: {
          kinds: {
            text: MESSAGES_TEXT,
            image: { reads: "type source cache_control" },
            document: { reads: "type source title context cache_control" },
            // Who called, which comes with every call, is for the provider's own tools.
            tool_use: { reads: "type id name input cache_control caller" },
            tool_result: { reads: "type tool_use_id content is_error cache_control" },
          },
        },
      },
    },
  },
};

const SHAPES: Readonly<Record<WireFormat["name"], Known>> = {
  "openai-chat": known(CHAT),
  "openai-completions": known({ holds: { stream_options: { reads: "include_usage" } } }),
  "openai-responses": known(RESPONSES),
  "anthropic-messages": known(MESSAGES),
};

/** The paths, without places in lists, of nested members of the body that a translation does not read; each once. */
export function unreadMembers(format: WireFormat["name"], body: Readonly<Record<string, unknown>>): Set<string> {
  const out = new Set<string>();
  for (const [name, inner] of SHAPES[format].holds) look(body[name], inner, out);
  return out;
}

function look(value: unknown, shape: Known, out: Set<string>): void {
  if (Array.isArray(value)) {
    for (const element of value) look(element, shape, out);
    return;
  }
  if (!isFields(value)) return;
  let own = shape;
  if (shape.kinds !== undefined) {
    const kind = shape.kinds.get(String(value["type"] ?? shape.kind));
    if (kind === undefined) return;
    own = kind;
  }
  for (const name in value) {
    const member = value[name];
    // What is not wanted (padding in streams, deferred loading) is not missed.
    if (own.reads.has(name) || member === null || member === undefined || member === false) continue;
    const inner = own.holds.get(name);
    if (inner !== undefined) look(member, inner, out);
    else if (typeof member !== "object" || Object.keys(member).length > 0) out.add(`${own.path}.${name}`);
  }
}
