// PubMed: one request finds the ids of articles, a second one fetches them.

import { address, jsonHeaders, offset, pageSize } from "../address.ts";
import type { EngineContext, EngineRequest, EngineResponse, Parsed, SearchEngine } from "../engine.ts";
import { isoDate } from "../reading/date.ts";
import { isKeyed, parsedJson, selectorsOf, settled, strangeSelector, valueAt } from "../reading/json.ts";
import { type MarkupFields, readMarkup } from "../reading/markup.ts";
import { failed, statusFailure } from "../reading/status.ts";
import { joined } from "../reading/text.ts";

const ORIGIN = "https://eutils.ncbi.nlm.nih.gov";
const ARTICLES = "articles";
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

export const pubmed: SearchEngine = {
  name: "pubmed",
  categories: ["science"],
  about: { website: "https://pubmed.ncbi.nlm.nih.gov", official: true },
  enabledByDefault: true,
  optionalKey: { looksLike: "an NCBI API key", requestRate: { requests: 10, perMs: 1000 } },
  network: "ncbi",
  requestRate: { requests: 3, perMs: 1000 },
  timeoutMs: 10_000,
  pagesMax: 10,
  selectors: {
    ids: "esearchresult.idlist",
    results: "PubmedArticleSet > PubmedArticle",
    id: "MedlineCitation > PMID",
    title: "ArticleTitle",
    snippet: "Abstract > AbstractText",
    journal: "Journal > Title",
    year: "ArticleDate > Year, PubDate > Year",
    month: "ArticleDate > Month, PubDate > Month",
    day: "ArticleDate > Day, PubDate > Day",
  },
  request(context) {
    const size = pageSize(context, 20);
    const url = address(context, ORIGIN, "/entrez/eutils/esearch.fcgi", {
      db: "pubmed",
      term: context.query.text,
      retstart: offset(context, size),
      retmax: size,
      retmode: "json",
      sort: "relevance",
      tool: "sallyport",
      api_key: context.settings.apiKey,
    });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) =>
    response.request.step === ARTICLES ? readArticles(response, context) : readIds(response, context),
};

function readIds(response: EngineResponse, context: EngineContext): Parsed {
  const strange = strangeSelector(pubmed, context);
  if (strange !== undefined) return strange;
  const failure = statusFailure(response, { keyed: isKeyed(pubmed, context) });
  if (failure !== undefined) return { kind: "failure", failure };
  const body = parsedJson(response.body);
  if (valueAt(body, "esearchresult.ERROR") !== undefined) return failed("unanswered", "The engine could not search.");
  const ids = valueAt(body, selectorsOf(pubmed, context)["ids"] ?? "");
  if (!Array.isArray(ids)) return failed("changed_markup", "The answer has no list of articles.");
  const numbers = ids.filter((id): id is string => typeof id === "string" && /^\d+$/.test(id));
  if (numbers.length === 0 && ids.length > 0)
    return failed("changed_markup", "The articles of the answer have no numbers.");
  return numbers.length === 0 ? { kind: "hits", hits: [] } : { kind: "next", request: articles(context, numbers) };
}

function articles(context: EngineContext, ids: readonly string[]): EngineRequest {
  const url = address(context, ORIGIN, "/entrez/eutils/efetch.fcgi", {
    db: "pubmed",
    retmode: "xml",
    id: ids.join(","),
    tool: "sallyport",
    api_key: context.settings.apiKey,
  });
  return {
    method: "GET",
    url,
    headers: { accept: "text/xml", "user-agent": context.settings.userAgent },
    step: ARTICLES,
  };
}

function readArticles(response: EngineResponse, context: EngineContext): Parsed {
  // `ids` is a path in the first response, which is JSON, so it is no selector here.
  const { ids: _, ...selectors } = selectorsOf(pubmed, context);
  return readMarkup(response, settled(context), {
    engine: { selectors },
    xml: true,
    draft: (fields) => ({
      url: /^\d+$/.test(fields.text("id")) ? `https://pubmed.ncbi.nlm.nih.gov/${fields.text("id")}/` : undefined,
      snippet: joined([fields.texts("snippet").join(" "), fields.text("journal")]),
      publishedAt: dateOf(fields),
    }),
  });
}

/** The date of an article. Months are numbers or English names; the day and the month may be missing. */
function dateOf(fields: MarkupFields): string | undefined {
  const month = fields.text("month");
  const named = MONTHS.indexOf(month.slice(0, 3).toLowerCase()) + 1;
  const parts = [fields.text("year"), named > 0 ? String(named) : month, fields.text("day")];
  const missing = parts.indexOf("");
  const known = missing < 0 ? parts : parts.slice(0, missing);
  return isoDate(known.map((part, index) => part.padStart(index === 0 ? 4 : 2, "0")).join("-"));
}
