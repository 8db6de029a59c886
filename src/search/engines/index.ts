// The list of search engines. A new engine is a file, a line here, and a folder of samples in test/search/samples.

import type { SearchEngine } from "../engine.ts";
import { arxiv } from "./arxiv.ts";
import { bing } from "./bing.ts";
import { bingNews } from "./bing-news.ts";
import { bluesky } from "./bluesky.ts";
import { brave } from "./brave.ts";
import { braveHtml } from "./brave-html.ts";
import { crossref } from "./crossref.ts";
import { dailymotion } from "./dailymotion.ts";
import { dockerHub } from "./docker-hub.ts";
import { duckduckgo } from "./duckduckgo.ts";
import { exa } from "./exa.ts";
import { gdelt } from "./gdelt.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";
import { googleNews } from "./google-news.ts";
import { hackernews } from "./hackernews.ts";
import { huggingFace } from "./hugging-face.ts";
import { internetArchive } from "./internet-archive.ts";
import { lemmy } from "./lemmy.ts";
import { mastodon } from "./mastodon.ts";
import { mdn } from "./mdn.ts";
import { mojeek } from "./mojeek.ts";
import { musicbrainz } from "./musicbrainz.ts";
import { nominatim } from "./nominatim.ts";
import { openalex } from "./openalex.ts";
import { openverse } from "./openverse.ts";
import { peertube } from "./peertube.ts";
import { photon } from "./photon.ts";
import { pubmed } from "./pubmed.ts";
import { reddit } from "./reddit.ts";
import { searxng } from "./searxng.ts";
import { semanticScholar } from "./semantic-scholar.ts";
import { sepiasearch } from "./sepiasearch.ts";
import { serper } from "./serper.ts";
import { stackexchange } from "./stackexchange.ts";
import { startpage } from "./startpage.ts";
import { tavily } from "./tavily.ts";
import { wikidata } from "./wikidata.ts";
import { wikimediaCommons } from "./wikimedia-commons.ts";
import { wikipedia } from "./wikipedia.ts";
import { youtube } from "./youtube.ts";

/** Engines that are equal otherwise are preferred in this order. */
export const ENGINES: readonly SearchEngine[] = [
  brave,
  tavily,
  exa,
  serper,
  searxng,
  duckduckgo,
  braveHtml,
  startpage,
  bing,
  mojeek,
  wikipedia,
  wikidata,
  hackernews,
  googleNews,
  bingNews,
  gdelt,
  openalex,
  arxiv,
  semanticScholar,
  pubmed,
  crossref,
  github,
  stackexchange,
  mdn,
  dockerHub,
  gitlab,
  huggingFace,
  bluesky,
  reddit,
  lemmy,
  mastodon,
  sepiasearch,
  dailymotion,
  peertube,
  youtube,
  musicbrainz,
  internetArchive,
  openverse,
  wikimediaCommons,
  nominatim,
  photon,
];
