// The provider cards: the facts in the vendors' files, in the form that requests and model lists need. A vendor is added in
// vendors/, not here.

import { CALLABLE, type CallableVendor, findVendor } from "../../vendors/look-up.ts";
import { type CredentialScheme, type DialectName, PROTOCOLS, type ProviderKind } from "../../vendors/protocols.ts";
import type { EmbeddedName, ModelList } from "../../vendors/vendor.ts";
import type { ProviderCard, Transport } from "../provider.ts";
import { readModels, USUAL_LIST } from "./model-list.ts";

/** A card for each protocol of each vendor that is reached over the network. */
export const CARDS: readonly ProviderCard[] = CALLABLE.filter(({ api }) => api.embedded === undefined).flatMap(cardsOf);

/** The preset's card if it speaks that protocol, otherwise the protocol's generic card. */
export function cardFor(preset: string | undefined, dialect: DialectName): ProviderCard {
  return CARDS.find((card) => card.name === preset && card.dialect === dialect) ?? GENERIC[dialect];
}

/** The embedded provider; undefined for other kinds. */
export function embeddedCard(kind: ProviderKind): { card: ProviderCard; transport: Transport } | undefined {
  const vendor = CALLABLE.find(({ api }) => api.kind === kind && api.embedded !== undefined);
  const [card] = vendor === undefined ? [] : cardsOf(vendor);
  const answeredBy = vendor?.api.embedded?.answeredBy;
  return card === undefined || answeredBy === undefined ? undefined : { card, transport: ANSWERS[answeredBy] };
}

/**
 * The card of a provider that only answers decisions. `dialect`: the name that is stated where the name of a dialect is required.
 */
export function decisionCard(name: string, dialect: DialectName): ProviderCard {
  const { decisions, dialects } = findVendor(name)?.api ?? {};
  const { safety_identifier } = dialects?.["openai-chat"] ?? {};
  return {
    name,
    dialect,
    baseUrl: "",
    headers: headersOf(DECISION_AUTH),
    quirks: safety_identifier === undefined ? {} : { safety_identifier },
    ...(decisions === undefined ? {} : { decisions }),
  };
}

/** The code that answers for the embedded providers, loaded when one is called. */
const ANSWERS: Readonly<Record<EmbeddedName, Transport>> = {
  demo: async (...call) => (await import("./demo.ts")).demoTransport(...call),
};

/** Decision endpoints take the key in the usual header. */
const DECISION_AUTH = PROTOCOLS["openai-chat"].auth;

function cardsOf({ name, api }: CallableVendor): ProviderCard[] {
  const { portableSeals, signsThinking, models, decisions, embedded } = api;
  return (Object.keys(api.dialects) as DialectName[]).map((dialect) => ({
    name,
    dialect,
    baseUrl: api.baseUrl,
    headers: headersOf(api.auth ?? PROTOCOLS[dialect].auth, PROTOCOLS[dialect].headers),
    quirks: api.dialects[dialect] ?? {},
    ...(portableSeals === undefined ? {} : { portableSeals }),
    ...(signsThinking === undefined ? {} : { signsThinking }),
    ...(decisions === undefined ? {} : { decisions }),
    ...(embedded === undefined
      ? {}
      : { embeddedModels: embedded.models, embeddedDecisionModels: embedded.decisionModels }),
    ...(models === undefined ? {} : listOf(models)),
  }));
}

/** Where a server's models are listed, and how the list is read. */
function listOf(models: ModelList): Pick<ProviderCard, "modelsPath" | "parseModels" | "details" | "further"> {
  const { path, details, further } = models;
  return {
    modelsPath: path,
    parseModels: (body) => readModels(body, models),
    ...(details === undefined ? {} : { details: otherList(details) }),
    ...(further === undefined ? {} : { further: otherList(further) }),
  };
}

function otherList({ path, list }: NonNullable<ModelList["details"]>): NonNullable<ProviderCard["details"]> {
  return { path, parse: (body) => readModels(body, list) };
}

const { details: _details, ...WITHOUT_DETAILS } = USUAL_LIST;

const GENERIC = Object.fromEntries(
  Object.entries(PROTOCOLS).map(([dialect, { generic, auth, headers, quirks = {}, routersPublish }]) => [
    dialect,
    {
      name: generic,
      dialect,
      baseUrl: "",
      headers: headersOf(auth, headers),
      quirks,
      ...listOf(routersPublish === true ? USUAL_LIST : WITHOUT_DETAILS),
    },
  ]),
) as Readonly<Record<DialectName, ProviderCard>>;

/** The request headers with the credential, which is "" if none is needed. */
function headersOf(auth: CredentialScheme, fixed: Readonly<Record<string, string>> = {}): ProviderCard["headers"] {
  const made = (secret: string): Readonly<Record<string, string>> => {
    if (secret === "") return fixed;
    const isToken = auth.tokensBegin !== undefined && secret.startsWith(auth.tokensBegin);
    if (isToken) return { ...fixed, authorization: `Bearer ${secret}` };
    const word = auth.bearer === true ? "Bearer" : auth.word;
    return { ...fixed, [auth.header]: word === undefined ? secret : `${word} ${secret}` };
  };
  // Nearly all calls have the credential of the call before.
  let last = { secret: "", headers: fixed };
  return (secret) => {
    if (last.secret !== secret) last = { secret, headers: made(secret) };
    return last.headers;
  };
}
